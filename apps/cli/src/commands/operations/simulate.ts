import {
  type AndroidVersion,
  androidReleases,
  type MakerName,
  makerProfiles,
} from '@phalanx/simulated-phone/profiles';
import { type Command, InvalidArgumentError, Option } from 'commander';

import { untilSignal } from '../../until-signal.ts';

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new InvalidArgumentError('give a port from 0 to 65535');
}

interface SimulateOptions {
  port: number;
  serial: string;
  profile?: MakerName;
  android?: string;
}

const releases: ReadonlyMap<string, AndroidVersion> = new Map([
  ['8', 8],
  ['11', 11],
  ['13', 13],
  ['15', 15],
]);

const toRelease = (text: string): AndroidVersion => releases.get(text) ?? 15;

/** `phalanx simulate`: one simulated phone on a TCP port, for `adb connect` or `PHALANX_PHONES`. */
export function addSimulateCommand(program: Command): void {
  program
    .command('simulate')
    .description('run a simulated phone that ADB clients on this machine can connect to')
    .option('--port <port>', 'TCP port; 0 takes a free one', parsePort, 0)
    .option('--serial <serial>', 'its serial number', 'SIM0001')
    .addOption(new Option('--profile <maker>', 'whose phone it is like').choices(Object.keys(makerProfiles)))
    .addOption(
      new Option('--android <version>', 'its release of Android').choices(Object.keys(androidReleases)),
    )
    .action(async ({ android, ...options }: SimulateOptions) => {
      const release = android === undefined ? {} : { android: toRelease(android) };
      const { startSimulatedPhone } = await import('@phalanx/simulated-phone');
      const phone = await startSimulatedPhone({ ...options, ...release });
      console.log(`Phone ${phone.serial} is at ${phone.host}:${phone.port}`);
      console.log(`  adb connect ${phone.host}:${phone.port}`);
      console.log(`  phalanx start --phones ${phone.host}:${phone.port}`);
      await untilSignal();
      await phone.stop();
    });
}
