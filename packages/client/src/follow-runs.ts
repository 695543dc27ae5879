import { openEventStream, type EventStream, type FollowedEvent } from './event-stream.ts';
import { FollowedRun, type Look, type RunReader } from './followed-run.ts';
import { pause } from '@phalanx/timing/pause';
import { reconnected } from './reconnected.ts';
import type { RunUpdate } from './run-update.ts';
import { ServiceError, ServiceUnreachable } from './service-errors.ts';

export interface RunsToFollow {
  readonly runIds: readonly string[];
  /** ID of the entry after which the logs begin. */
  readonly from?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

const looksAtOnce = 8;

/**
 * Yields each log entry of these runs once, in the order of its run, and the end of each run after its last entry. Ends
 * when all runs have ended. The log of a run that is lost, or that its host has not delivered completely, ends after
 * one second without new entries.
 *
 * One event stream delivers what is new. After a broken connection, pages of the logs deliver what was missed. A caller
 * that may not open a stream, because its token is limited to phones or too many streams are open, is served by pages
 * only.
 */
export function followRuns(
  api: RunReader,
  { runIds, from, signal }: RunsToFollow,
): AsyncGenerator<RunUpdate, void, undefined> {
  const following = new Following(
    api,
    runIds.map((runId) => new FollowedRun(api, runId, from)),
  );
  return reconnected((link) => following.connect(link), signal);
}

class Following {
  readonly #api: RunReader;
  readonly #runs: ReadonlyMap<string, FollowedRun>;
  /** Time at which the last connection broke, on the clock of `performance.now`. */
  #brokeAt = -Infinity;

  constructor(api: RunReader, runs: readonly FollowedRun[]) {
    this.#api = api;
    this.#runs = new Map(runs.map((run) => [run.runId, run]));
  }

  /** Follows until all runs have ended. Throws when the connection breaks. */
  async *connect(signal: AbortSignal): AsyncGenerator<RunUpdate, void, undefined> {
    try {
      yield* this.#follow(signal);
    } catch (error) {
      this.#brokeAt = performance.now();
      throw error;
    }
  }

  async *#follow(signal: AbortSignal): AsyncGenerator<RunUpdate, void, undefined> {
    const brokeAt = this.#brokeAt;
    // Ended runs need no stream.
    yield* lookAt(this.#open, { hasEvents: false, brokeAt, signal });
    const events = await openEvents(this.#api, this.#open, signal);
    // Reads each run again, because it may have changed before the stream was open.
    for (const run of this.#runs.values()) run.dueAt = 0;
    for (let isLive = false; ;) {
      // Changes during these reads arrive on the stream.
      for (let due = this.#due; due.length > 0; due = this.#due)
        yield* lookAt(due, { hasEvents: events !== undefined, brokeAt, signal });
      if (!isLive) yield { type: 'live' };
      isLive = true;
      const open = this.#open;
      if (open.length === 0) return;
      const waitMs = Math.min(...open.map(({ dueAt }) => dueAt)) - performance.now();
      if (events === undefined) await pause(Math.max(0, waitMs), signal);
      else yield* this.#updatesOf(await events.read(waitMs));
    }
  }

  /** Runs that have updates left. */
  get #open(): FollowedRun[] {
    return [...this.#runs.values()].filter(({ isOver }) => !isOver);
  }

  get #due(): FollowedRun[] {
    return this.#open.filter(({ dueAt }) => dueAt <= performance.now());
  }

  #updatesOf(event: FollowedEvent | undefined): RunUpdate[] {
    if (event?.type === 'run' && event.run.ended_at !== null) {
      const run = this.#runs.get(event.run.run_id);
      if (run !== undefined) run.dueAt = 0;
    }
    if (event?.type !== 'log') return [];
    const runIds = new Set(event.logs.map(({ run_id: runId }) => runId));
    return [...runIds].flatMap((runId) => this.#runs.get(runId)?.take(event.logs) ?? []);
  }
}

/**
 * Reads several runs at a time. Throws the first failure after the updates of the other runs, which are yielded only
 * once.
 */
async function* lookAt(due: readonly FollowedRun[], look: Look): AsyncGenerator<RunUpdate, void, undefined> {
  for (let first = 0; first < due.length; first += looksAtOnce) {
    const runs = due.slice(first, first + looksAtOnce);
    const results = await Promise.allSettled(runs.map((run) => run.look(look)));
    for (const result of results) if (result.status === 'fulfilled') yield* result.value;
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }
}

/** Opens a stream of the events of these runs; undefined for a caller that may not open one, or needs none. */
async function openEvents(
  api: RunReader,
  runs: readonly FollowedRun[],
  signal: AbortSignal,
): Promise<TimedReader | undefined> {
  if (runs.length === 0) return undefined;
  const filter = {
    types: ['run', 'log'],
    deviceId: commonOf(runs.map(({ run }) => run?.device_id)),
    automationId: commonOf(runs.map(({ run }) => run?.automation_id)),
  } as const;
  try {
    return new TimedReader(await openEventStream(api, filter, signal));
  } catch (error) {
    const isRefused =
      error instanceof ServiceError && (error.status === 403 || error.code === 'too_many_streams');
    if (isRefused) return undefined;
    throw error;
  }
}

/** Returns the common value; undefined when the values differ. */
const commonOf = (values: readonly (string | undefined)[]): string | undefined =>
  new Set(values).size === 1 ? values[0] : undefined;

/** Reads a stream event by event, each with a timeout. */
class TimedReader {
  readonly #stream: EventStream;
  #next: Promise<IteratorResult<FollowedEvent, void>> | undefined;

  constructor(stream: EventStream) {
    this.#stream = stream;
  }

  /** Returns the next event; undefined when none arrives within `ms`. Throws when the stream has ended. */
  async read(ms: number): Promise<FollowedEvent | undefined> {
    this.#next ??= this.#stream.next();
    const result = ms === Infinity ? await this.#next : await within(this.#next, ms);
    if (result === undefined) return undefined;
    this.#next = undefined;
    if (result.done === true) throw new ServiceUnreachable('The service has ended the stream of events.');
    return result.value;
  }
}

async function within<Result>(waiting: Promise<Result>, ms: number): Promise<Result | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, ms), undefined);
  });
  try {
    return await Promise.race([waiting, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
