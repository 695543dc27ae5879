import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { launchRoutes } from '@phalanx/protocol';
import type { Command } from 'commander';

import { addConnectionOptions, connect, type ConnectionFlags } from '../connection/connection.ts';
import { exitCodesHelp, usageError } from '../exit-codes.ts';
import { Endurance } from '../follow/endurance.ts';
import { findNewestRuns } from '../follow/find-runs.ts';
import { LogCursor } from '../follow/log-cursor.ts';
import { showRuns } from '../follow/show-runs.ts';
import { deviceIdOf, listDevices } from '../launch/find-device.ts';
import {
  addParameterOptions,
  parametersHelp,
  readInputs,
  type ParameterFlags,
} from '../launch/parameter-options.ts';
import { notice } from '../output/notice.ts';

interface Flags extends ConnectionFlags, ParameterFlags {
  device: string;
  follow?: true;
  json?: true;
}

/** `phalanx exec`: run a file of this machine as direct code. */
export function addExecCommand(program: Command): void {
  const command = program
    .command('exec')
    .description('run a TypeScript or JavaScript file on a device, without a project')
    .argument('<file>', 'the code; it can import nothing')
    .requiredOption('--device <device>', 'serial number or device ID')
    .option('-f, --follow', 'print its log until it has ended')
    .option('--json', "print the API's reply, and with --follow its log and run events, one a line")
    .addHelpText(
      'after',
      `${parametersHelp}${exitCodesHelp}
Examples:
  phalanx exec hello.ts --device SIM0001 --follow
  phalanx exec register.ts --device SIM0001 --param name=Ada --param tries=3`,
    )
    .action(execute);
  addParameterOptions(command);
  addConnectionOptions(command);
}

async function execute(file: string, flags: Flags): Promise<void> {
  const code = await readFile(file, 'utf8').catch(() => {
    throw usageError(`${file} cannot be read: give the path of a .ts or .js file.`);
  });
  const inputs = await readInputs(flags);
  const { api } = await connect(flags);
  const devices = await listDevices(api);
  const deviceId = deviceIdOf(devices, flags.device);
  const launchId = randomUUID();
  const body = { device_id: deviceId, launch_id: launchId, command: 'start' as const, code, ...inputs };
  const reply = await api.call(launchRoutes.launchDirect, { body });
  if (flags.json) console.log(JSON.stringify({ ...reply, launch_id: launchId }));
  else notice(`${reply.message} Launch ID: ${launchId}`);
  if (!flags.follow) return;
  const runs = await new Endurance().call(() => findNewestRuns(api, launchId, [deviceId]));
  const cursor = new LogCursor(api, { deviceId, automationId: launchId });
  await showRuns(api, {
    runs: runs.map((run) => ({ runId: run.run_id, cursor })),
    devices,
    json: flags.json === true,
    stopCommand: `phalanx stop --device ${flags.device} ${launchId}`,
  });
}
