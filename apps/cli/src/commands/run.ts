import { launchRoutes } from '@phalanx/protocol';
import type { Command } from 'commander';

import type { ApiClient } from '../api-client.ts';
import { addConnectionOptions, connect, type ConnectionFlags } from '../connection/connection.ts';
import { exitCodesHelp } from '../exit-codes.ts';
import { Endurance } from '../follow/endurance.ts';
import { addFollowOptions, follows, type FollowFlags } from '../follow/follow-options.ts';
import { findNewestRuns } from '../follow/find-runs.ts';
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
import { chooseSavedProject } from '../project/choose-project.ts';

interface Flags extends ConnectionFlags, ParameterFlags, PlaceFlags, FollowFlags {
  json?: true;
}

/** `phalanx run`: start a project on devices. */
export function addRunCommand(program: Command): void {
  const command = program
    .command('run')
    .description('start a project on devices')
    .argument('[project]', 'ID or name; by default the project of this folder')
    .option('--json', "print the API's reply, and with --follow its log and run events, one a line")
    .addHelpText(
      'after',
      `
It runs the files that the server has, committed or not: "phalanx project push" sends those of a folder.
${parametersHelp}${exitCodesHelp}
Examples:
  phalanx run checkout --device SIM0001 --device SIM0002 --follow
  phalanx run checkout --all-ready --params-file nightly.json --param tries=3
  phalanx run checkout --all-ready --junit report.xml`,
    )
    .action(run);
  addPlaceOptions(command);
  addFollowOptions(command);
  addParameterOptions(command);
  addConnectionOptions(command);
}

async function run(project: string | undefined, flags: Flags): Promise<void> {
  requirePlace(flags);
  const inputs = await readInputs(flags);
  const connection = await connect(flags);
  const { api } = connection;
  const automationId = await chooseSavedProject(connection, project);
  const devices = await listDevices(api);
  const deviceIds = chooseDevices(devices, flags);
  const cursors = follows(flags) ? await cursorsOf(api, automationId, deviceIds) : [];
  const body = { device_ids: deviceIds, automationId, command: 'start' as const, ...inputs };
  const reply = await api.call(launchRoutes.launch, { body });
  if (flags.json) console.log(JSON.stringify(reply));
  else notice(reply.message);
  if (!follows(flags)) return;
  await showRuns(api, {
    runs: await startedRuns(api, automationId, cursors),
    devices,
    json: flags.json === true,
    stopCommand: stopCommand(flags, project ?? automationId),
    junit: flags.junit,
    name: project ?? automationId,
  });
}

/** Behind what earlier runs of the project have logged. */
async function cursorsOf(
  api: ApiClient,
  automationId: string,
  deviceIds: readonly string[],
): Promise<LogCursor[]> {
  const cursors = deviceIds.map((deviceId) => new LogCursor(api, { deviceId, automationId }));
  // A device that is not known has no log; the launch says so.
  await inParallel(cursors, (cursor) => cursor.skip().catch(() => undefined));
  return cursors;
}

async function startedRuns(api: ApiClient, automationId: string, cursors: readonly LogCursor[]) {
  const deviceIds = cursors.map(({ source }) => source.deviceId);
  const runs = await new Endurance().call(() => findNewestRuns(api, automationId, deviceIds));
  return cursors.flatMap((cursor) => {
    const started = runs.find((one) => one.device_id === cursor.source.deviceId);
    return started === undefined ? [] : [{ runId: started.run_id, cursor }];
  });
}
