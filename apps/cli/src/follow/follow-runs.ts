import { setTimeout as sleep } from 'node:timers/promises';
import { writeFile } from 'node:fs/promises';

import {
  type DeviceOutcome,
  isEnded,
  runRoutes,
  type LogEntry,
  type Run,
  logWindowMs,
  type Device,
} from '@phalanx/protocol';
import type { Command } from 'commander';

import { type ApiClient, ApiRefusal, ServerUnreachable } from '../api-client.ts';
import { inParallel } from '../in-parallel.ts';
import { notice } from '../output/terminal.ts';
import { CommandError, exitCodes } from '../exit-codes.ts';
import { serialOf } from '../launch/find-by-name.ts';
import { describeEnd, printLogEntry } from '../output/run-text.ts';
import { junitReport, type JunitCase } from '../output/junit.ts';
import { unlessInterrupted } from '../until-signal.ts';

/** A place in the log of a run, at first its beginning. */
class RunLog implements LogPages {
  readonly #api: ApiClient;
  readonly #runId: string;
  #from: string | undefined;

  constructor(api: ApiClient, runId: string) {
    this.#api = api;
    this.#runId = runId;
  }

  async readPage(): Promise<LogEntry[]> {
    const query = this.#from === undefined ? {} : { from: this.#from };
    const { logs } = await this.#api.call(runRoutes.logs, { params: { id: this.#runId }, query });
    this.#from = logs.at(-1)?.id ?? this.#from;
    return logs;
  }
}

export interface FollowedRun {
  readonly runId: string;
  readonly deviceId: string;
}

export interface RunListener {
  onEntries(deviceId: string, entries: readonly LogEntry[]): void;
  /** After the last entry of the run. */
  onEnd(run: Run): void;
}

const pauseMs = 300;

/** The runs that a launch has started, by the rows of its reply. */
export const startedRuns = (rows: readonly DeviceOutcome[]): FollowedRun[] =>
  rows.flatMap(({ device_id: deviceId, run_id: runId }) => (runId === null ? [] : [{ runId, deviceId }]));

/** Hands out the logs of these runs as they come, until all have ended and nothing is left to read. */
export async function followRuns(
  api: ApiClient,
  runs: readonly FollowedRun[],
  listener: RunListener,
): Promise<Run[]> {
  const endurance = new Endurance();
  const ended = new Map<string, Run>();
  const logs = runs.map((run) => ({ ...run, log: new RunLog(api, run.runId) }));
  const look = async ({ runId, deviceId, log }: FollowedRun & { log: RunLog }): Promise<void> => {
    // The state first: after the end not much can come.
    const { run } = await endurance.call(() => api.call(runRoutes.get, { params: { id: runId } }));
    const onEntries = (entries: readonly LogEntry[]): void => listener.onEntries(deviceId, entries);
    await drain(endurance, log, onEntries);
    if (!isEnded(run.status)) return;
    await drainEnded(endurance, log, onEntries);
    ended.set(runId, run);
    listener.onEnd(run);
  };
  for (;;) {
    await inParallel(
      logs.filter(({ runId }) => !ended.has(runId)),
      look,
    );
    if (ended.size === runs.length) return [...ended.values()];
    await sleep(pauseMs);
  }
}

/** A log that is read from a place on. */
export interface LogPages {
  /** The entries after this place, as many as one reply holds; it moves behind them. Empty: nothing newer. */
  readPage(): Promise<LogEntry[]>;
}

/** A host says that a run has ended without waiting for the service to store its last lines. */
const quietMs = 1000;

type OnEntries = (entries: readonly LogEntry[]) => void;

/** Hands out all that there is now; false when there was nothing. */
export async function drain(endurance: Endurance, log: LogPages, onEntries: OnEntries): Promise<boolean> {
  for (let hasFound = false; ; hasFound = true) {
    const entries = await endurance.call(() => log.readPage());
    if (entries.length === 0) return hasFound;
    onEntries(entries);
  }
}

/** The same for a run that has ended: until nothing more has come for a while. */
export async function drainEnded(endurance: Endurance, log: LogPages, onEntries: OnEntries): Promise<void> {
  do await sleep(quietMs);
  while (await drain(endurance, log, onEntries));
}

const retryMs = 500;

/** A restart and an overload pass; a refusal does not. */
const isPassing = (error: unknown): error is Error =>
  error instanceof ServerUnreachable || (error instanceof ApiRefusal && error.status >= 500);

/**
 * Asks again while the server is away, and says so once. It gives up when the server was away for as long as log
 * lines are kept: then some are lost anyway.
 */
export class Endurance {
  #awaySince: number | undefined;

  async call<Result>(ask: () => Promise<Result>): Promise<Result> {
    for (;;) {
      try {
        const result = await ask();
        this.#noteReturn();
        return result;
      } catch (error) {
        if (!isPassing(error)) throw error;
        this.#noteAbsence(error);
        await sleep(retryMs);
      }
    }
  }

  #noteAbsence(error: Error): void {
    const now = Date.now();
    if (this.#awaySince === undefined) {
      this.#awaySince = now;
      notice(`${error.message} Asking again until it answers; no line is lost by that.`);
    } else if (now - this.#awaySince > logWindowMs) throw error;
  }

  #noteReturn(): void {
    if (this.#awaySince === undefined) return;
    this.#awaySince = undefined;
    notice('The server answers again.');
  }
}

interface Show {
  readonly serverUrl: string;
  readonly runs: readonly FollowedRun[];
  readonly devices: readonly Device[];
  /** Prints the service's `log` and `run` events instead, one a line. */
  readonly json: boolean;
  readonly stopCommand: string;
  /** In JUnit's form: the file for it, and what people call that which runs. */
  readonly report: { readonly file: string; readonly name: string } | undefined;
}

/** Prints the logs of these runs until all have ended. Throws unless every one has done what it was to do. */
export async function showRuns(api: ApiClient, show: Show): Promise<void> {
  const ended = await unlessInterrupted(
    followRuns(api, show.runs, show.json ? jsonListener : textListener(show)),
    `Stopped following; what runs goes on. Stop it with: ${show.stopCommand}`,
  );
  if (show.report !== undefined) await writeReport(show.report, ended, show);
  throwUnlessDone(ended);
}

function throwUnlessDone(ended: readonly Run[]): void {
  const which = (runs: readonly Run[]): string =>
    ended.length === 1 ? 'The run' : `${runs.length} of ${ended.length} runs`;
  const failed = ended.filter(({ status }) => status !== 'completed');
  if (failed.length > 0) throw new CommandError(exitCodes.failed, `${which(failed)} did not complete.`);
  const lost = ended.filter(({ outcome }) => outcome !== 'succeeded');
  if (lost.length === 0) return;
  const message = `${which(lost)} met an unknown screen or ran out of steps: "phalanx records list" has the screens.`;
  throw new CommandError(exitCodes.outOfSteps, message);
}

async function writeReport(
  { file, name }: NonNullable<Show['report']>,
  runs: readonly Run[],
  { devices, serverUrl }: Show,
): Promise<void> {
  const cases = runs.map((run) =>
    caseOf({ suite: name, device: serialOf(devices, run.device_id), serverUrl }, run),
  );
  await writeFile(file, junitReport(cases));
}

const jsonListener: RunListener = {
  onEntries: (deviceId, logs) => console.log(JSON.stringify({ type: 'log', device_id: deviceId, logs })),
  onEnd: (run) => console.log(JSON.stringify({ type: 'run', run })),
};

function textListener({ runs, devices }: Show): RunListener {
  const prefixOf = (deviceId: string): string => (runs.length === 1 ? '' : serialOf(devices, deviceId));
  return {
    onEntries(deviceId: string, entries: readonly LogEntry[]) {
      for (const entry of entries) printLogEntry(entry, prefixOf(deviceId));
    },
    onEnd: (run: Run) => notice(`${serialOf(devices, run.device_id)}: the run ${describeEnd(run)}.`),
  };
}

interface CaseHead {
  readonly suite: string;
  readonly device: string;
  readonly serverUrl: string;
}

/** The stack begins with the message, which is told once. */
function caseOf({ suite, device, serverUrl }: CaseHead, run: Run): JunitCase {
  const head = { suite, name: device, durationMs: durationMs(run) };
  if (run.outcome === 'succeeded') return head;
  const message = describeEnd(run);
  const lines = [`${serverUrl}/runs/${run.run_id}`, run.error?.stack].filter(Boolean);
  const type = run.error?.code ?? run.outcome ?? run.status;
  return { ...head, failure: { type, message, text: lines.join('\n') } };
}

const durationMs = ({ started_at: startedAt, ended_at: endedAt }: Run): number =>
  startedAt === null || endedAt === null ? 0 : endedAt - startedAt;

export interface FollowFlags {
  follow?: true;
  junit?: string;
}

export function addFollowOptions(command: Command): Command {
  return command
    .option('-f, --follow', 'print the logs of all devices until every run has ended')
    .option('--junit <file>', 'follow, and write a JUnit report with a test case for each device');
}

export const follows = ({ follow, junit }: FollowFlags): boolean => follow === true || junit !== undefined;
