import type { Command } from '@commander-js/extra-typings';
import type { ApiClient } from '@phalanx/client/api-client';
import { launchRoutes, projectRoutes } from '@phalanx/protocol';
import type { Command as PlainCommand } from 'commander';

import type { Connection } from '../../connection/connection.ts';
import { type OptionsOf, serverCommand, type ServerFlags } from '../../connection/server-command.ts';
import { exitCodesHelp, usageError } from '../../exit-codes.ts';
import { startedRuns } from '../../follow/follow-to-end.ts';
import { addFollowOptions, follows, showRuns } from '../../follow/show-runs.ts';
import {
  addPlaceOptions,
  placeOf,
  requirePlace,
  stopCommand,
  addPhoneSettingOptions,
  phoneSettingsOf,
} from '../../launch/work-options.ts';
import { runAddresses } from '../../follow/run-addresses.ts';
import { listDevices } from '../../launch/find-by-name.ts';
import { addParameterOptions, parametersHelp, readInputs } from '../../launch/parameters.ts';
import { notice } from '../../output/terminal.ts';
import { chooseSavedProject } from '../../project/project-folder.ts';
import { pushFolder } from '../code/push.ts';

type Flags = OptionsOf<typeof runOptions> & ServerFlags;

/** `phalanx run`: starts a project on devices. */
export function addRunCommand(program: PlainCommand): void {
  serverCommand(program, 'run', {
    about: 'start a project on devices',
    json: "print the API's reply, and with --follow its log and run events, one per line",
    build: runOptions,
    help: `The run uses the files saved on the server, committed or not. --push saves those of this folder first.

${parametersHelp}${exitCodesHelp}
Examples:
  phalanx run --push --all-ready --follow
  phalanx run checkout --device SIM0001 --device SIM0002 --follow
  phalanx run checkout --labels "country=de,model~Pixel" --count 5
  phalanx run checkout --all-ready --params-file nightly.json --param tries=3
  phalanx run checkout --all-ready --phone-time-zone Europe/Berlin --location 52.52,13.4
  phalanx run checkout --all-ready --junit report.xml`,
    check: (flags) => requirePlace(flags),
    prepare,
    run,
  });
}

const runOptions = (command: Command) =>
  addPhoneSettingOptions(
    addParameterOptions(
      addFollowOptions(
        addPlaceOptions(
          command
            .argument('[project]', 'ID or name; default: the project of this folder')
            .option('--push', "save this folder's changed files on the server first")
            .option(
              '--film',
              'record a film of each run: a video of its screen, or pictures if video is not possible',
            ),
        ),
      ),
    ),
  );

// Has the command's argument too, because the command's types are inferred from all of its functions.
const prepare = async (flags: Flags, _project: string | undefined) => ({
  inputs: await readInputs(flags),
  settings: phoneSettingsOf(flags),
});

async function run(
  connection: Connection,
  flags: Flags & Awaited<ReturnType<typeof prepare>>,
  project: string | undefined,
): Promise<void> {
  const { api } = connection;
  if (flags.push) await pushBefore(connection, project);
  const automationId = await chooseSavedProject(connection, project);
  const devices = await listDevices(api);
  const body = {
    ...placeOf(devices, flags),
    automationId,
    command: 'start' as const,
    ...filmOf(flags),
    ...flags.settings,
    ...flags.inputs,
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
