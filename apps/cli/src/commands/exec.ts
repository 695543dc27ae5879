import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { launchRoutes } from '@phalanx/protocol';
import type { Command } from 'commander';

import { ApiRefusal, type ApiClient } from '../api-client.ts';
import { addConnectionOptions, connect, type ConnectionFlags } from '../connection/connection.ts';
import { CommandError, exitCodes, exitCodesHelp, usageError } from '../exit-codes.ts';
import { Endurance } from '../follow/endurance.ts';
import { findNewestRuns } from '../follow/find-runs.ts';
import { addFollowOptions, follows, type FollowFlags } from '../follow/follow-options.ts';
import type { FollowedRun } from '../follow/follow-runs.ts';
import { inParallel } from '../follow/in-parallel.ts';
import { LogCursor } from '../follow/log-cursor.ts';
import { showRuns } from '../follow/show-runs.ts';
import {
  addPlaceOptions,
  chooseDevices,
  requirePlace,
  stopCommand,
  type PlaceFlags,
} from '../launch/choose-devices.ts';
import { listDevices } from '../launch/find-device.ts';
import {
  addParameterOptions,
  parametersHelp,
  readInputs,
  type ParameterFlags,
} from '../launch/parameter-options.ts';
import { notice } from '../output/notice.ts';

interface Flags extends ConnectionFlags, ParameterFlags, PlaceFlags, FollowFlags {
  json?: true;
}

/** `phalanx exec`: run a file of this machine as direct code. */
export function addExecCommand(program: Command): void {
  const command = program
    .command('exec')
    .description('run a TypeScript or JavaScript file on devices, without a project')
    .argument('<file>', 'the code; it can import nothing')
    .option('--json', "print the API's reply, and with --follow its log and run events, one a line")
    .addHelpText(
      'after',
      `${parametersHelp}${exitCodesHelp}
Examples:
  phalanx exec hello.ts --device SIM0001 --follow
  phalanx exec register.ts --device SIM0001 --param name=Ada --param tries=3`,
    )
    .action(execute);
  addPlaceOptions(command);
  addFollowOptions(command);
  addParameterOptions(command);
  addConnectionOptions(command);
}

async function execute(file: string, flags: Flags): Promise<void> {
  requirePlace(flags);
  const code = await readFile(file, 'utf8').catch(() => {
    throw usageError(`${file} cannot be read: give the path of a .ts or .js file.`);
  });
  const inputs = await readInputs(flags);
  const { api } = await connect(flags);
  const devices = await listDevices(api);
  const starts = chooseDevices(devices, flags).map((deviceId) => ({ deviceId, launchId: randomUUID() }));
  const refused = await startAll(api, { starts, code, inputs, flags });
  if (follows(flags)) {
    const runs: FollowedRun[] = [];
    for (const start of starts) if (!refused.has(start)) runs.push(await followedRun(api, start));
    const stopping = runs.map(({ cursor }) => stopCommand(flags, cursor.source.automationId));
    const json = flags.json === true;
    const name = path.basename(file);
    await showRuns(api, { runs, devices, json, stopCommand: stopping.join('; '), junit: flags.junit, name });
  }
  if (refused.size > 0)
    throw new CommandError(
      exitCodes.refused,
      `It was not started on ${refused.size} of ${starts.length} devices.`,
    );
}

interface Start {
  readonly deviceId: string;
  readonly launchId: string;
}

interface Starts {
  readonly starts: readonly Start[];
  readonly code: string;
  readonly inputs: Awaited<ReturnType<typeof readInputs>>;
  readonly flags: Flags;
}

/** Each device has a launch of its own. Returns those that the server refused; throws when that is the only one. */
async function startAll(api: ApiClient, { starts, code, inputs, flags }: Starts): Promise<Set<Start>> {
  const refused = new Set<Start>();
  await inParallel(starts, async (start) => {
    const { deviceId, launchId } = start;
    const body = { device_id: deviceId, launch_id: launchId, command: 'start' as const, code, ...inputs };
    try {
      const reply = await api.call(launchRoutes.launchDirect, { body });
      if (flags.json) console.log(JSON.stringify({ ...reply, device_id: deviceId, launch_id: launchId }));
      else notice(`${reply.message} Launch ID: ${launchId}`);
    } catch (error) {
      if (starts.length === 1 || !(error instanceof ApiRefusal) || error.errors.length > 0) throw error;
      notice(error.message);
      refused.add(start);
    }
  });
  return refused;
}

async function followedRun(api: ApiClient, { deviceId, launchId }: Start): Promise<FollowedRun> {
  const [run] = await new Endurance().call(() => findNewestRuns(api, launchId, [deviceId]));
  if (run === undefined) throw new Error(`the server lists no run of the launch ${launchId}`);
  return { runId: run.run_id, cursor: new LogCursor(api, { deviceId, automationId: launchId }) };
}
