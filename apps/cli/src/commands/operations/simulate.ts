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
  throw new InvalidArgumentError('Expected a port from 0 to 65535.');
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

/** `phalanx simulate`: runs a simulated phone on a TCP port, for `adb connect` or `PHALANX_PHONES`. */
export function addSimulateCommand(program: Command): void {
  program
    .command('simulate')
    .description('run a simulated phone that ADB clients on this machine can connect to')
    .option('--port <port>', 'TCP port; 0 chooses a free one', parsePort, 0)
    .option('--serial <serial>', 'serial number', 'SIM0001')
    .addOption(new Option('--profile <maker>', 'manufacturer to imitate').choices(Object.keys(makerProfiles)))
    .addOption(new Option('--android <version>', 'Android release').choices(Object.keys(androidReleases)))
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
