import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { Command } from '@commander-js/extra-typings';
import type { ApiClient } from '@phalanx/client/api-client';
import { ServiceError } from '@phalanx/client/service-errors';
import { launchRoutes } from '@phalanx/protocol';
import type { Command as PlainCommand } from 'commander';

import type { Connection } from '../../connection/connection.ts';
import { type OptionsOf, serverCommand, type ServerFlags } from '../../connection/server-command.ts';
import { CommandError, exitCodes, exitCodesHelp, usageError } from '../../exit-codes.ts';
import { startedRuns, type FollowedRun } from '../../follow/follow-to-end.ts';
import { addFollowOptions, follows, showRuns } from '../../follow/show-runs.ts';
import { inParallel } from '../../in-parallel.ts';
import {
  addPlaceOptions,
  chooseDevices,
  requirePlace,
  stopCommand,
  addPhoneSettingOptions,
  phoneSettingsOf,
} from '../../launch/work-options.ts';
import { listDevices } from '../../launch/find-by-name.ts';
import { runAddresses } from '../../follow/run-addresses.ts';
import { addParameterOptions, parametersHelp, readInputs } from '../../launch/parameters.ts';
import { notice } from '../../output/terminal.ts';

type Flags = OptionsOf<typeof execOptions> & ServerFlags;

/** `phalanx exec`: runs a local file as direct code. */
export function addExecCommand(program: PlainCommand): void {
  serverCommand(program, 'exec', {
    about: 'run a TypeScript or JavaScript file on devices, without a project',
    json: "print the API's reply, and with --follow its log and run events, one per line",
    build: execOptions,
    help: `${parametersHelp}${exitCodesHelp}
Examples:
  phalanx exec hello.ts --device SIM0001 --follow
  phalanx exec register.ts --device SIM0001 --param name=Ada --param tries=3
  phalanx runs code 83335275374f | phalanx exec - --device SIM0001`,
    check: (flags) => requirePlace(flags),
    prepare,
    run: execute,
  });
}

const execOptions = (command: Command) =>
  addPhoneSettingOptions(
    addParameterOptions(
      addFollowOptions(
        addPlaceOptions(
          command
            .argument('<file>', 'file with the code, or - for standard input; the code cannot import modules')
            .option(
              '--film',
              'record a film of each run: a video of its screen, or pictures if video is not possible',
            ),
        ),
      ),
    ),
  );

const prepare = async (flags: Flags, file: string) => ({
  code: await readCode(file),
  inputs: { ...(await readInputs(flags)), ...phoneSettingsOf(flags) },
});

type Prepared = Awaited<ReturnType<typeof prepare>>;

async function execute({ api, serverUrl }: Connection, flags: Flags & Prepared, file: string): Promise<void> {
  const name = file === standardInput ? 'standard input' : path.basename(file).slice(-maxNameLength);
  const devices = await listDevices(api, flags.labels);
  const starts = chooseDevices(devices, flags).map((deviceId) => ({ deviceId, launchId: randomUUID() }));
  const begun = await startAll(api, { starts, name, flags });
  const started = starts.filter((start) => begun.has(start));
  const runs = started.flatMap((start) => begun.get(start) ?? []);
  if (flags.json !== true) for (const line of runAddresses(serverUrl, runs)) notice(line);
  if (follows(flags)) {
    await showRuns(api, {
      serverUrl,
      runs,
      devices,
      json: flags.json === true,
      stopCommand: started.map(({ launchId }) => stopCommand(flags, launchId)).join('; '),
      report: flags.junit === undefined ? undefined : { file: flags.junit, name },
    });
  }
  const refused = starts.length - begun.size;
  if (refused > 0)
    throw new CommandError(
      exitCodes.refused,
      `The code was not started on ${refused} of ${starts.length} devices.`,
    );
}

const standardInput = '-';

const readCode = (file: string): Promise<string> =>
  file === standardInput
    ? text(process.stdin)
    : readFile(file, 'utf8').catch(() => {
        throw usageError(
          `${file} cannot be read: pass the path of a .ts or .js file, or - for standard input.`,
        );
      });

/** Maximum length of a name that the service accepts. */
const maxNameLength = 200;

interface Start {
  readonly deviceId: string;
  readonly launchId: string;
}

interface Starts {
  readonly starts: readonly Start[];
  /** Name of the file. */
  readonly name: string;
  readonly flags: Flags & Prepared;
}

/** Launches on each device separately. Returns the accepted launches. Throws if the server refused the only one. */
async function startAll(api: ApiClient, { starts, name, flags }: Starts): Promise<Map<Start, FollowedRun[]>> {
  const begun = new Map<Start, FollowedRun[]>();
  await inParallel(starts, async (start) => {
    const { deviceId, launchId } = start;
    const body = {
      device_id: deviceId,
      launch_id: launchId,
      command: 'start' as const,
      name,
      code: flags.code,
      ...(flags.film === undefined ? {} : { film: flags.film }),
      ...flags.inputs,
    };
    try {
      const reply = await api.call(launchRoutes.launchDirect, { body });
      begun.set(start, startedRuns(reply.devices));
      if (flags.json) console.log(JSON.stringify({ ...reply, device_id: deviceId, launch_id: launchId }));
      else notice(`${reply.message} Launch ID: ${launchId}`);
    } catch (error) {
      if (starts.length === 1 || !(error instanceof ServiceError) || error.errors.length > 0) throw error;
      notice(error.message);
    }
  });
  return begun;
}
