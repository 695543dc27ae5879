import type { ApiClient } from '@phalanx/client/api-client';
import { launchRoutes, projectRoutes } from '@phalanx/protocol';
import type { Command } from 'commander';

import {
  addConnectionOptions,
  connect,
  type Connection,
  type ConnectionFlags,
} from '../../connection/connection.ts';
import { exitCodesHelp, usageError } from '../../exit-codes.ts';
import { startedRuns } from '../../follow/follow-to-end.ts';
import { addFollowOptions, follows, type FollowFlags, showRuns } from '../../follow/show-runs.ts';
import {
  addPlaceOptions,
  placeOf,
  requirePlace,
  stopCommand,
  type PlaceFlags,
  addPhoneSettingOptions,
  type PhoneSettingFlags,
  phoneSettingsOf,
} from '../../launch/work-options.ts';
import { runAddresses } from '../../follow/run-addresses.ts';
import { listDevices } from '../../launch/find-by-name.ts';
import {
  addParameterOptions,
  parametersHelp,
  readInputs,
  type ParameterFlags,
} from '../../launch/parameters.ts';
import { notice } from '../../output/terminal.ts';
import { chooseSavedProject } from '../../project/project-folder.ts';
import { pushFolder } from '../code/push.ts';

interface Flags extends ConnectionFlags, ParameterFlags, PlaceFlags, FollowFlags, PhoneSettingFlags {
  json?: true;
  push?: true;
  film?: true;
}

/** `phalanx run`: starts a project on devices. */
export function addRunCommand(program: Command): void {
  const command = program
    .command('run')
    .description('start a project on devices')
    .argument('[project]', 'ID or name; default: the project of this folder')
    .option('--push', "save this folder's changed files on the server first")
    .option(
      '--film',
      'record a film of each run: a video of its screen, or pictures if video is not possible',
    )
    .option('--json', "print the API's reply, and with --follow its log and run events, one per line")
    .addHelpText(
      'after',
      `
The run uses the files saved on the server, committed or not. --push saves those of this folder first.
${parametersHelp}${exitCodesHelp}
Examples:
  phalanx run --push --all-ready --follow
  phalanx run checkout --device SIM0001 --device SIM0002 --follow
  phalanx run checkout --labels "country=de,model~Pixel" --count 5
  phalanx run checkout --all-ready --params-file nightly.json --param tries=3
  phalanx run checkout --all-ready --phone-time-zone Europe/Berlin --location 52.52,13.4
  phalanx run checkout --all-ready --junit report.xml`,
    )
    .action(run);
  addPlaceOptions(command);
  addFollowOptions(command);
  addParameterOptions(command);
  addPhoneSettingOptions(command);
  addConnectionOptions(command);
}

async function run(project: string | undefined, flags: Flags): Promise<void> {
  requirePlace(flags);
  const inputs = await readInputs(flags);
  const settings = phoneSettingsOf(flags);
  const connection = await connect(flags);
  const { api } = connection;
  if (flags.push) await pushBefore(connection, project);
  const automationId = await chooseSavedProject(connection, project);
  const devices = await listDevices(api);
  const body = {
    ...placeOf(devices, flags),
    automationId,
    command: 'start' as const,
    ...filmOf(flags),
    ...settings,
    ...inputs,
  };
  const report = flags.junit === undefined ? undefined : await reportOf(api, automationId, flags.junit);
  const reply = await api.call(launchRoutes.launch, { body });
  const runs = startedRuns(reply.devices);
  if (flags.json) console.log(JSON.stringify(reply));
  else for (const line of [reply.message, ...runAddresses(connection.serverUrl, runs)]) notice(line);
  if (!follows(flags)) return;
  await showRuns(api, {
    serverUrl: connection.serverUrl,
    runs,
    devices,
    json: flags.json === true,
    stopCommand: stopCommand(flags, project ?? automationId),
    report,
  });
}

const filmOf = ({ film }: Flags): { film?: true } => (film === undefined ? {} : { film });

async function pushBefore(connection: Connection, project: string | undefined): Promise<void> {
  if (project !== undefined)
    throw usageError('--push works only for the project of this folder: omit the project, or omit --push.');
  await pushFolder(connection, {});
}

/** Returns the project's name for a report, because the user may have typed its ID. */
async function reportOf(api: ApiClient, id: string, file: string): Promise<{ file: string; name: string }> {
  const { project } = await api.call(projectRoutes.get, { params: { id } });
  return { file, name: project.name };
}
