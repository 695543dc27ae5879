import { startSimulatedPhone } from '@phalanx/simulated-phone';
import { type Command, InvalidArgumentError } from 'commander';

import { untilSignal } from '../until-signal.ts';

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new InvalidArgumentError('give a port from 0 to 65535');
}

/** `phalanx simulate`: one simulated phone on a TCP port, for `adb connect` or `PHALANX_PHONES`. */
export function addSimulateCommand(program: Command): void {
  program
    .command('simulate')
    .description('run a simulated phone that ADB clients on this machine can connect to')
    .option('--port <port>', 'TCP port; 0 takes a free one', parsePort, 0)
    .option('--serial <serial>', 'its serial number', 'SIM0001')
    .action(async (options: { port: number; serial: string }) => {
      const phone = await startSimulatedPhone(options);
      console.log(`Phone ${phone.serial} is at ${phone.host}:${phone.port}`);
      console.log(`  adb connect ${phone.host}:${phone.port}`);
      console.log(`  phalanx start --phones ${phone.host}:${phone.port}`);
      await untilSignal();
      await phone.stop();
    });
}
