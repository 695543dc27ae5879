import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { ApiClient } from '@phalanx/client/api-client';
import { ServiceError } from '@phalanx/client/service-errors';
import { launchRoutes } from '@phalanx/protocol';
import type { Command } from 'commander';

import { addConnectionOptions, connect, type ConnectionFlags } from '../../connection/connection.ts';
import { CommandError, exitCodes, exitCodesHelp, usageError } from '../../exit-codes.ts';
import { startedRuns, type FollowedRun } from '../../follow/follow-to-end.ts';
import { addFollowOptions, follows, type FollowFlags, showRuns } from '../../follow/show-runs.ts';
import { inParallel } from '../../in-parallel.ts';
import {
  addPlaceOptions,
  chooseDevices,
  requirePlace,
  stopCommand,
  type PlaceFlags,
  addPhoneSettingOptions,
  type PhoneSettingFlags,
  phoneSettingsOf,
} from '../../launch/work-options.ts';
import { listDevices } from '../../launch/find-by-name.ts';
import { runAddresses } from '../../follow/run-addresses.ts';
import {
  addParameterOptions,
  parametersHelp,
  readInputs,
  type ParameterFlags,
} from '../../launch/parameters.ts';
import { notice } from '../../output/terminal.ts';

interface Flags extends ConnectionFlags, ParameterFlags, PlaceFlags, FollowFlags, PhoneSettingFlags {
  json?: true;
  film?: true;
}

/** `phalanx exec`: runs a local file as direct code. */
export function addExecCommand(program: Command): void {
  const command = program
    .command('exec')
    .description('run a TypeScript or JavaScript file on devices, without a project')
    .argument('<file>', 'file with the code, or - for standard input; the code cannot import modules')
    .option(
      '--film',
      'record a film of each run: a video of its screen, or pictures if video is not possible',
    )
    .option('--json', "print the API's reply, and with --follow its log and run events, one per line")
    .addHelpText(
      'after',
      `${parametersHelp}${exitCodesHelp}
Examples:
  phalanx exec hello.ts --device SIM0001 --follow
  phalanx exec register.ts --device SIM0001 --param name=Ada --param tries=3
  phalanx runs code 83335275374f | phalanx exec - --device SIM0001`,
    )
    .action(execute);
  addPlaceOptions(command);
  addFollowOptions(command);
  addParameterOptions(command);
  addPhoneSettingOptions(command);
  addConnectionOptions(command);
}

async function execute(file: string, flags: Flags): Promise<void> {
  requirePlace(flags);
  const name = file === standardInput ? 'standard input' : path.basename(file).slice(-maxNameLength);
  const code = await readCode(file);
  const inputs = { ...(await readInputs(flags)), ...phoneSettingsOf(flags) };
  const { api, serverUrl } = await connect(flags);
  const devices = await listDevices(api, flags.labels);
  const starts = chooseDevices(devices, flags).map((deviceId) => ({ deviceId, launchId: randomUUID() }));
  const begun = await startAll(api, { starts, name, code, inputs, flags });
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
  readonly code: string;
  readonly inputs: Awaited<ReturnType<typeof readInputs>> & ReturnType<typeof phoneSettingsOf>;
  readonly flags: Flags;
}

/** Launches on each device separately. Returns the accepted launches. Throws if the server refused the only one. */
async function startAll(
  api: ApiClient,
  { starts, name, code, inputs, flags }: Starts,
): Promise<Map<Start, FollowedRun[]>> {
  const begun = new Map<Start, FollowedRun[]>();
  await inParallel(starts, async (start) => {
    const { deviceId, launchId } = start;
    const body = {
      device_id: deviceId,
      launch_id: launchId,
      command: 'start' as const,
      name,
      code,
      ...(flags.film === undefined ? {} : { film: flags.film }),
      ...inputs,
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
