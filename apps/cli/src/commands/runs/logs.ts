import { setTimeout as sleep } from 'node:timers/promises';
import { isEnded, runRoutes, type LogEntry, type Run, logRoutes } from '@phalanx/protocol';
import type { Command } from 'commander';

import type { ApiClient, Reply } from '../../api-client.ts';
import { addConnectionOptions, connect, type ConnectionFlags } from '../../connection/connection.ts';
import { usageError } from '../../exit-codes.ts';
import { Endurance, drain, drainEnded, type LogPages } from '../../follow/follow-runs.ts';
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

const pauseMs = 300;

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
  const endurance = new Endurance();
  const cursor = new LogCursor(api, source, flags.from);
  let count = 0;
  const print = (entries: readonly LogEntry[]): void => {
    count += entries.length;
    printEntries(entries, flags.json === true);
  };
  if (!flags.follow && !flags.followForever) {
    // Nobody waits for what is not followed: a server that is away is an error here.
    for (let page = await cursor.readPage(); page.length > 0; page = await cursor.readPage()) print(page);
    if (count === 0) notice('No lines in the last 10 minutes.');
    return;
  }
  for (;;) {
    const run = await endurance.call(() => newestRun(api, source));
    await drain(endurance, cursor, print);
    if (!flags.followForever && (run === undefined || isEnded(run.status))) {
      if (run !== undefined) await drainEnded(endurance, cursor, print);
      return noteEnd(run);
    }
    await sleep(pauseMs);
  }
}

async function newestRun(api: ApiClient, { deviceId, automationId }: LogSource): Promise<Run | undefined> {
  return (await findNewestRuns(api, automationId, [deviceId]))[0];
}

function noteEnd(run: Run | undefined): void {
  notice(run === undefined ? 'It has not run on this device.' : `The run ${describeEnd(run)}.`);
}

interface LogSource {
  deviceId: string;
  automationId: string;
}

/** A place in the log of an automation on a device. */
class LogCursor implements LogPages {
  readonly #source: LogSource;
  readonly #api: ApiClient;
  #from: string | undefined;

  constructor(api: ApiClient, source: LogSource, from?: string) {
    this.#api = api;
    this.#source = source;
    this.#from = from;
  }

  async readPage(): Promise<LogEntry[]> {
    const body = { device_id: this.#source.deviceId, automation_ids: [this.#source.automationId] };
    const from = this.#from === undefined ? {} : { from: this.#from };
    const { logs } = await this.#api.call(logRoutes.read, { body: { ...body, ...from } });
    this.#from = logs.at(-1)?.id ?? this.#from;
    return logs;
  }
}
