import type { ApiClient } from '@phalanx/client/api-client';
import { type Command, Option } from '@commander-js/extra-typings';
import {
  activeRunStatuses,
  endedRunStatuses,
  type Device,
  type ListedRun,
  type Project,
  type Run,
  runRoutes,
  type RunDetail,
} from '@phalanx/protocol';
import type { Command as PlainCommand } from 'commander';

import { type OptionsOf, serverCommand } from '../../connection/server-command.ts';
import { listRuns, shortRunId, getRunId } from '../../follow/find-runs.ts';
import {
  deviceIdOf,
  listDevices,
  serialOf,
  getAutomationId,
  listProjects,
} from '../../launch/find-by-name.ts';
import { describeLauncher, describeEnd } from '../../output/run-text.ts';
import { formatAge, formatDuration } from '../../output/duration.ts';
import { printJson, printTable, paragraph, terminalCells } from '../../output/table.ts';
import { parseLimit } from '../../option-values.ts';
import { CommandError, exitCodes } from '../../exit-codes.ts';
import { printable } from '../../output/terminal.ts';
import { addRunFilesCommand, addRunFilmCommand, withRun } from './downloads.ts';

const noRuns = 'No runs. "phalanx run PROJECT --device D" or "phalanx exec FILE --device D" starts one.';

/** `phalanx runs` and the commands for one run: what ran, where, and how it ended. */
export function addRunsCommand(program: PlainCommand): void {
  const runs = serverCommand(program, 'runs', {
    about: 'list runs, newest first',
    build: listOptions,
    help: `Examples:
  phalanx runs --status failed --search "Sign in"
  phalanx runs show 83335275374f
  phalanx runs --device SIM0001 --automation checkout --json`,
    async run({ api }, flags) {
      const devices = await listDevices(api);
      const { runs: found, nextCursor } = await readRuns(api, devices, flags);
      if (flags.json) return printJson({ success: true, runs: found, total: null, next_cursor: nextCursor });
      // A token with only the launch scope cannot list projects. The table then shows their IDs.
      const projects = found.some((run) => run.launch_id === null)
        ? await listProjects(api).catch(() => [])
        : [];
      const rows = found.map((run) => row(run, { devices, projects, isWide: flags.wide === true }));
      printTable({ flexible: 'error', rows }, noRuns);
    },
  });
  // Added last: otherwise their options would be taken for options of the list.
  addShowCommand(runs);
  addRunCodeCommand(runs);
  addRunFilesCommand(runs);
  addRunFilmCommand(runs);
}

const listOptions = (command: Command) =>
  command
    .option('--device <device>', 'only runs on this device')
    .option('--automation <automation>', 'only runs of this project (ID or name) or launch ID')
    .addOption(
      new Option('--status <status>', 'only runs in this state').choices([
        ...activeRunStatuses,
        ...endedRunStatuses,
      ]),
    )
    .option('--search <text>', 'only runs whose name, ID or error contains this text')
    .option('--limit <count>', 'maximum number of runs', parseLimit, 20)
    .option('--wide', 'also show who launched each run, its commit and the full error');

async function readRuns(
  api: ApiClient,
  devices: readonly Device[],
  { device, automation, status, search, limit }: OptionsOf<typeof listOptions>,
): Promise<{ runs: ListedRun[]; nextCursor: string | null }> {
  const filter = {
    ...(device === undefined ? {} : { device_id: deviceIdOf(devices, device) }),
    ...(automation === undefined ? {} : { automation_id: await getAutomationId(api, automation) }),
    ...(status === undefined ? {} : { status }),
    ...(search === undefined ? {} : { search }),
  };
  const runs: ListedRun[] = [];
  for await (const run of listRuns(api, filter)) {
    if (runs.length === limit) return { runs, nextCursor: runs.at(-1)?.run_id ?? null };
    runs.push(run);
  }
  return { runs, nextCursor: null };
}

/** Returns the status, or the outcome of a run that completed without success. */
const statusOf = ({ status, outcome }: Run): string =>
  status === 'completed' && outcome !== null && outcome !== 'succeeded' ? outcome : status;

const errorText = ({ error }: Run): string => (error === null ? '' : `${error.code}: ${error.message}`);

function commitText({ commit, dirty }: Run): string {
  if (commit === null) return dirty === true ? 'uncommitted' : '';
  return `${commit.slice(0, 8)}${dirty === true ? ' + changes' : ''}`;
}

interface Names {
  devices: readonly Device[];
  projects: readonly Project[];
  /** Whether rows have all columns and full errors. */
  isWide: boolean;
}

function row(run: ListedRun, { devices, projects, isWide }: Names): Record<string, string> {
  const { started_at: startedAt, ended_at: endedAt } = run;
  const project = projects.find(({ id }) => id === run.automation_id);
  return {
    run: shortRunId(run.run_id),
    automation: project?.name ?? run.name ?? (run.launch_id === null ? run.automation_id : 'Direct code'),
    device: serialOf(devices, run.device_id),
    status: statusOf(run),
    ago: formatAge(run.created_at),
    took: startedAt === null ? '-' : formatDuration((endedAt ?? Date.now()) - startedAt),
    ...(isWide && { by: describeLauncher(run.launched_by), commit: commitText(run) }),
    error: isWide ? errorText(run) : (errorText(run).split('\n', 1)[0] ?? ''),
  };
}

/** `phalanx runs code` */
export function addRunCodeCommand(runs: PlainCommand): void {
  serverCommand(runs, 'code', {
    about: 'print the direct code of a run',
    json: false,
    build: withRun,
    help: `Example: run the code of a run again
  phalanx runs code 83335275374f | phalanx exec - --device SIM0001`,
    async run({ api }, _, text) {
      const runId = await getRunId(api, text);
      const { code } = await api.call(runRoutes.code, { params: { id: runId } });
      if (code === null) throw new CommandError(exitCodes.refused, await whyNone(api, runId));
      process.stdout.write(code);
    },
  });
}

async function whyNone(api: ApiClient, runId: string): Promise<string> {
  const { run } = await api.call(runRoutes.get, { params: { id: runId } });
  return run.launch_id === null
    ? `${runId} is a run of a project: get its files with "phalanx project pull"${run.commit === null ? '' : `, or those of its commit ${run.commit} with git`}.`
    : `The code of ${runId} was not kept: it is larger than 1 MiB.`;
}

/** `phalanx runs show` */
export function addShowCommand(runs: PlainCommand): void {
  serverCommand(runs, 'show', {
    about: 'show all details of a run: how it ended, its launch, parameters, result and records',
    build: withRun,
    async run({ api }, { json }, text) {
      const reply = await api.call(runRoutes.get, { params: { id: await getRunId(api, text) } });
      if (json) printJson(reply);
      else await printRun(api, reply.run);
    },
  });
}

async function printRun(api: ApiClient, run: RunDetail): Promise<void> {
  const serial = serialOf(await listDevices(api), run.device_id);
  for (const line of paragraph({ ...headOf(run, serial), ...detailsOf(run) }, terminalCells()))
    console.log(line);
  if (run.error !== null) console.log(`\n${printable(run.error.stack ?? run.error.message)}`);
}

const headOf = (run: RunDetail, serial: string): Record<string, string> => ({
  Run: run.run_id,
  Status: describeEnd(run),
  Automation: run.project_name === null ? run.automation_id : `${run.project_name} (${run.automation_id})`,
  Device: `${serial} (${run.device_id})`,
  Launched: `${new Date(run.created_at).toISOString()} (${formatAge(run.created_at)} ago) by ${describeLauncher(run.launched_by)}`,
  Commit: run.commit === null ? '' : `${run.commit}${run.dirty ? ' + changes' : ''}`,
});

const detailsOf = ({
  parameters,
  result,
  records,
  last_screen: last,
}: RunDetail): Record<string, string> => ({
  Parameters: parameters === null ? 'too large to be kept' : JSON.stringify(parameters.automation_parameters),
  Variables: parameters === null ? '' : JSON.stringify(parameters.job_variables),
  Result: result === null ? '' : JSON.stringify(result),
  Records: records.map((record) => `${record.record_id} (${record.type})`).join(', '),
  Screen: last === null ? '' : `state ${last.screen.screenState}, next stage ${last.screen.nextStage}`,
  Picture: last?.screen.screenshot.screenshotUrl ?? '',
});
