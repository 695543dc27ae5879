import { followConnection } from '@phalanx/client/events';
import { logRoutes, runRoutes, type LogEntry } from '@phalanx/protocol';
import type { Command } from 'commander';

import type { ApiClient, Reply } from '../../api-client.ts';
import { addConnectionOptions, connect, type ConnectionFlags } from '../../connection/connection.ts';
import { usageError } from '../../exit-codes.ts';
import { Absence } from '../../follow/absence.ts';
import { followToEnd } from '../../follow/follow-to-end.ts';
import { findNewestRuns, getRunId } from '../../follow/find-runs.ts';
import { unlessInterrupted } from '../../until-signal.ts';
import { deviceIdOf, listDevices, getAutomationId } from '../../launch/find-by-name.ts';
import { describeEnd, printLogEntry } from '../../output/run-text.ts';
import { notice } from '../../output/terminal.ts';

interface Flags extends ConnectionFlags {
  follow?: true;
  followForever?: true;
  from?: string;
  json?: true;
  run?: string;
}

/** `phalanx logs`: what an automation has logged on a device. */
export function addLogsCommand(program: Command): void {
  const command = program
    .command('logs')
    .description('print what an automation has logged on a device in the last 10 minutes, or all of one run')
    .argument('[device]', 'serial number or device ID')
    .argument('[automation]', 'project (ID or name), or the launch ID of direct code')
    .option('-f, --follow', 'go on with new lines, until the run has ended')
    .option('--follow-forever', 'go on with new lines, also of later runs')
    .option('--from <id>', 'only lines after the one with this log ID')
    .option('--run <run>', 'the whole log of one run: its ID, or how it begins or ends')
    .option('--json', "print the API's log entries, one a line")
    .addHelpText(
      'after',
      `
A line is: time, level, line in your source, message. While the server is away, --follow waits for it; no line is
left out or repeated.

Examples:
  phalanx logs SIM0001 checkout --follow
  phalanx logs --run 0d6c0f0e5b1a
  phalanx logs SIM0001 3f0e7a52-4a3c-4d7a-9a53-0d6c0f0e5b1a --json | jq -r .message`,
    )
    .action(async (device: string | undefined, automation: string | undefined, flags: Flags) => {
      if (flags.run !== undefined && device === undefined) return printRun(flags.run, flags);
      if (flags.run !== undefined || device === undefined || automation === undefined)
        throw usageError('Give a device and an automation, or --run RUN.');
      const { api } = await connect(flags);
      const deviceId = deviceIdOf(await listDevices(api), device);
      const source = { deviceId, automationId: await getAutomationId(api, automation) };
      const following = read(api, source, flags);
      const hint = `Stopped following; the run goes on. Stop it with: phalanx stop --device ${device} ${automation}`;
      await (flags.follow || flags.followForever ? unlessInterrupted(following, hint) : following);
    });
  addConnectionOptions(command);
}

/** Prints the entries that are there now, from the oldest one that is kept. */
async function printRun(run: string, flags: Flags): Promise<void> {
  if (flags.follow || flags.followForever)
    throw usageError('--run prints what there is: follow a device and an automation instead.');
  const { api } = await connect(flags);
  const params = { id: await getRunId(api, run) };
  for (let from: string | null | undefined = flags.from; from !== null;) {
    const query: { from?: string } = from === undefined ? {} : { from };
    const page: Reply<typeof runRoutes.logs> = await api.call(runRoutes.logs, { params, query });
    printEntries(page.logs, flags.json === true);
    from = page.next_cursor;
  }
}

function printEntries(entries: readonly LogEntry[], json: boolean): void {
  for (const entry of entries) {
    if (json) console.log(JSON.stringify(entry));
    else printLogEntry(entry);
  }
}

async function read(api: ApiClient, source: LogSource, flags: Flags): Promise<void> {
  const print = (entries: readonly LogEntry[]): void => printEntries(entries, flags.json === true);
  if (flags.followForever) return followForever(api, source, flags.from, print);
  const last = await readKept(api, source, flags.from, print);
  if (!flags.follow) {
    if (last === flags.from) notice('No lines in the last 10 minutes.');
    return;
  }
  const [run] = await findNewestRuns(api, source.automationId, [source.deviceId]);
  if (run === undefined) return notice('It has not run on this device.');
  const followed = { runId: run.run_id, deviceId: run.device_id };
  const listener = {
    onEntries: (_: string, entries: readonly LogEntry[]) => print(entries),
    onEnd: () => undefined,
  };
  const [ended] = await followToEnd(api, [followed], listener, last);
  if (ended !== undefined) notice(`The run ${describeEnd(ended)}.`);
}

interface LogSource {
  deviceId: string;
  automationId: string;
}

type Print = (entries: readonly LogEntry[]) => void;

/** Prints what the last ten minutes have after entry `from`. Returns the ID of the last entry. */
async function readKept(
  api: ApiClient,
  { deviceId, automationId }: LogSource,
  from: string | undefined,
  print: Print,
): Promise<string | undefined> {
  for (let last = from; ;) {
    const body = {
      device_id: deviceId,
      automation_ids: [automationId],
      ...(last === undefined ? {} : { from: last }),
    };
    const { logs }: Reply<typeof logRoutes.read> = await api.call(logRoutes.read, { body });
    if (logs.length === 0) return last;
    print(logs);
    last = logs.at(-1)?.id;
  }
}

/** Prints the lines of each run, from those of the last ten minutes on. */
async function followForever(
  api: ApiClient,
  source: LogSource,
  from: string | undefined,
  print: Print,
): Promise<void> {
  const absence = new Absence();
  // Before the kept lines are read: what comes after them comes by the events.
  const updates = await followConnection(api.operations, {
    ...source,
    types: ['log'],
  });
  const last = await readKept(api, source, from, print);
  for await (const update of api.explained(updates)) {
    if (update.type === 'away') absence.begin(api.explain(update.error));
    else absence.end();
    if (update.type === 'log') print(update.logs.filter(({ id }) => id > (last ?? '')));
  }
}
