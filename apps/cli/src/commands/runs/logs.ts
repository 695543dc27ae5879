import type { Command } from '@commander-js/extra-typings';
import type { ApiClient } from '@phalanx/client/api-client';
import { followConnection } from '@phalanx/client/events';
import { operationsOf } from '@phalanx/client/operations';
import { readPages } from '@phalanx/client/read-all';
import { logRoutes, runRoutes, type LogEntry } from '@phalanx/protocol';
import type { Command as PlainCommand } from 'commander';

import { type OptionsOf, serverCommand, type ServerFlags } from '../../connection/server-command.ts';
import { usageError } from '../../exit-codes.ts';
import { Absence } from '../../follow/absence.ts';
import { followToEnd } from '../../follow/follow-to-end.ts';
import { findNewestRuns, getRunId } from '../../follow/find-runs.ts';
import { unlessInterrupted } from '../../until-signal.ts';
import { deviceIdOf, listDevices, getAutomationId } from '../../launch/find-by-name.ts';
import { describeEnd, printLogEntry } from '../../output/run-text.ts';
import { notice } from '../../output/terminal.ts';

type Flags = OptionsOf<typeof logOptions> & ServerFlags;

/** `phalanx logs`: prints the log of an automation on a device. */
export function addLogsCommand(program: PlainCommand): void {
  serverCommand(program, 'logs', {
    about: 'print the log of an automation on a device for the last 10 minutes, or the full log of one run',
    json: "print the API's log entries, one per line",
    build: logOptions,
    help: `Each line has the time, the level, the line in your source and the message. If the server is unreachable, --follow
retries until it answers, without losing or repeating lines.

Examples:
  phalanx logs SIM0001 checkout --follow
  phalanx logs --run 0d6c0f0e5b1a
  phalanx logs SIM0001 3f0e7a52-4a3c-4d7a-9a53-0d6c0f0e5b1a --json | jq -r .message`,
    check: chooseLog,
    async run({ api }, flags, ...names) {
      const chosen = chooseLog(flags, ...names);
      if (typeof chosen === 'string') return printRun(api, chosen, flags);
      const { device, automation } = chosen;
      const deviceId = deviceIdOf(await listDevices(api), device);
      const source = { deviceId, automationId: await getAutomationId(api, automation) };
      const following = read(api, source, flags);
      const hint = `Stopped following; the run continues. To stop it, run: phalanx stop --device ${device} ${automation}`;
      await (flags.follow || flags.followForever ? unlessInterrupted(following, hint) : following);
    },
  });
}

const logOptions = (command: Command) =>
  command
    .argument('[device]', 'serial number or device ID')
    .argument('[automation]', 'project (ID or name), or the launch ID of direct code')
    .option('-f, --follow', 'follow new lines until the run ends')
    .option('--follow-forever', 'follow new lines, including those of later runs')
    .option('--from <id>', 'only lines after this log ID')
    .option(
      '--run <run>',
      'print the full log of one run: ID, or its beginning or end (at least 4 characters)',
    );

/** Returns the run, or the device and the automation, whose log is wanted. Throws a usage error for another choice. */
function chooseLog(
  { run, follow: isFollowed, followForever: isFollowedForever }: Flags,
  device: string | undefined,
  automation: string | undefined,
): string | { device: string; automation: string } {
  if (run !== undefined && device === undefined) {
    if (isFollowed || isFollowedForever)
      throw usageError('--run prints only stored lines: to follow, pass a device and an automation instead.');
    return run;
  }
  if (run !== undefined || device === undefined || automation === undefined)
    throw usageError('Pass a device and an automation, or --run RUN.');
  return { device, automation };
}

/** Prints the stored entries of a run, oldest first. */
async function printRun(api: ApiClient, run: string, flags: Flags): Promise<void> {
  const params = { id: await getRunId(api, run) };
  const log = readPages(({ cursor = flags.from }) =>
    api.call(runRoutes.logs, { params, query: cursor === undefined ? {} : { from: cursor } }),
  );
  for await (const { logs } of log) printEntries(logs, flags.json === true);
}

function printEntries(entries: readonly LogEntry[], json: boolean): void {
  for (const entry of entries) {
    if (json) console.log(JSON.stringify(entry));
    else printLogEntry(entry);
  }
}

async function read(api: ApiClient, source: LogSource, flags: Flags): Promise<void> {
  const log = new KeptLog(api, source, flags);
  if (flags.followForever) return followForever(api, source, log);
  if (flags.follow) return follow(api, source, log);
  while (await log.printPage());
  if (log.last === flags.from) notice('No lines in the last 10 minutes.');
}

async function follow(api: ApiClient, source: LogSource, log: KeptLog): Promise<void> {
  const absence = new Absence();
  await log.printAll(absence);
  const [run] = await absence.outlast(() => findNewestRuns(api, source.automationId, [source.deviceId]));
  if (run === undefined) return notice('The automation has not run on this device.');
  const followed = { runId: run.run_id, deviceId: run.device_id };
  const listener = {
    onEntries: (_: string, entries: readonly LogEntry[]) => log.print(entries),
    onEnd: () => undefined,
  };
  const [ended] = await followToEnd(api, [followed], listener, log.last);
  if (ended !== undefined) notice(`The run ${describeEnd(ended)}.`);
}

interface LogSource {
  deviceId: string;
  automationId: string;
}

/** Stored log entries of an automation on a device. The service keeps those of the last ten minutes. */
class KeptLog {
  /** ID of the last entry that was printed. */
  last: string | undefined;
  readonly #api: ApiClient;
  readonly #source: LogSource;
  readonly #isJson: boolean;

  constructor(api: ApiClient, source: LogSource, { from, json }: Pick<Flags, 'from' | 'json'>) {
    this.#api = api;
    this.#source = source;
    this.last = from;
    this.#isJson = json === true;
  }

  /** Prints the next page. Returns false if it was empty. */
  async printPage(): Promise<boolean> {
    const { deviceId, automationId } = this.#source;
    const body = {
      device_id: deviceId,
      automation_ids: [automationId],
      ...(this.last === undefined ? {} : { from: this.last }),
    };
    const { logs } = await this.#api.call(logRoutes.read, { body });
    this.print(logs);
    return logs.length > 0;
  }

  /** Prints all pages. Retries while the server is unreachable. */
  async printAll(absence: Absence): Promise<void> {
    while (await absence.outlast(() => this.printPage()));
  }

  print(entries: readonly LogEntry[]): void {
    printEntries(entries, this.#isJson);
    this.last = entries.at(-1)?.id ?? this.last;
  }
}

/** Prints the lines of the last ten minutes, then the new lines of all runs. */
async function followForever(api: ApiClient, source: LogSource, log: KeptLog): Promise<void> {
  const absence = new Absence();
  // Opened before the stored lines are read, so that no line between them is lost.
  const updates = await followConnection(operationsOf(api), { ...source, types: ['log'] });
  await log.printAll(absence);
  // IDs are ordered within a run: a late entry of an earlier run may have a smaller ID than the last printed one.
  const { last = '' } = log;
  for await (const update of updates) {
    if (update.type === 'away') absence.begin(update.error);
    else absence.end();
    if (update.type === 'log') log.print(update.logs.filter(({ id }) => id > last));
  }
}
