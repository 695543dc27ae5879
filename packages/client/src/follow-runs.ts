import { Link, openEventStream, type EventStream, type FollowedEvent } from './event-stream.ts';
import { FollowedRun, type Look, type RunReader } from './followed-run.ts';
import { pause } from './pause.ts';
import type { RunUpdate } from './run-update.ts';
import { isPassing, ServiceError, ServiceUnreachable } from './transport.ts';

export interface RunsToFollow {
  readonly runIds: readonly string[];
  /** Entry after which the logs begin. */
  readonly from?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

const retryMs = 500;
const looksAtOnce = 8;

/**
 * Hands out each entry of the logs of these runs once, in the order of its run, and the end of each run after its last
 * entry. It ends when all runs have ended. The log of a run that is lost, or that its host has not delivered whole, ends
 * when nothing has come for a second.
 *
 * One stream of events brings what is new; after a break, pages of the logs bring what was missed. A caller who may have
 * no stream, because its token is limited to phones or too many are open, is served by pages alone.
 */
export async function* followRuns(
  api: RunReader,
  { runIds, from, signal }: RunsToFollow,
): AsyncGenerator<RunUpdate, void, undefined> {
  const followed = new Map(runIds.map((runId) => [runId, new FollowedRun(api, runId, from)]));
  for (let brokeAt = -Infinity; ;) {
    const link = new Link(signal);
    let isLive = false;
    try {
      for await (const update of followOnce(api, { followed, brokeAt, signal: link.signal })) {
        isLive ||= update.type === 'live';
        yield update;
      }
      return;
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof Error) || !isPassing(error)) throw error;
      brokeAt = performance.now();
      // A connection that worked is first opened again.
      if (!isLive) yield { type: 'away', error };
    } finally {
      link.end();
    }
    await pause(retryMs, signal);
  }
}

interface Following {
  readonly followed: ReadonlyMap<string, FollowedRun>;
  /** Time at which the last connection broke, on the clock of `performance.now`. */
  readonly brokeAt: number;
  readonly signal: AbortSignal;
}

/** Follows until all runs have ended. Throws when the connection breaks. */
async function* followOnce(
  api: RunReader,
  { followed, brokeAt, signal }: Following,
): AsyncGenerator<RunUpdate, void, undefined> {
  // Runs that have ended need no stream.
  yield* lookAt(openRuns(followed), { hasEvents: false, brokeAt, signal });
  const events = await openEvents(api, openRuns(followed), signal);
  // Nobody knows what came before the stream.
  for (const run of followed.values()) run.dueAt = 0;
  for (let isLive = false; ;) {
    // Changes during these reads come by the stream.
    for (let due = dueRuns(followed); due.length > 0; due = dueRuns(followed))
      yield* lookAt(due, { hasEvents: events !== undefined, brokeAt, signal });
    if (!isLive) yield { type: 'live' };
    isLive = true;
    const open = openRuns(followed);
    if (open.length === 0) return;
    const waitMs = Math.min(...open.map(({ dueAt }) => dueAt)) - performance.now();
    if (events === undefined) await pause(Math.max(0, waitMs), signal);
    else yield* updatesOf(await events.read(waitMs), followed);
  }
}

const openRuns = (followed: ReadonlyMap<string, FollowedRun>): FollowedRun[] =>
  [...followed.values()].filter(({ isOver }) => !isOver);

/** Looks at some runs at a time. Throws the first failure after the updates of the others, which are given once. */
async function* lookAt(due: readonly FollowedRun[], look: Look): AsyncGenerator<RunUpdate, void, undefined> {
  for (let first = 0; first < due.length; first += looksAtOnce) {
    const runs = due.slice(first, first + looksAtOnce);
    const results = await Promise.allSettled(runs.map((run) => run.look(look)));
    for (const result of results) if (result.status === 'fulfilled') yield* result.value;
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }
}

const dueRuns = (followed: ReadonlyMap<string, FollowedRun>): FollowedRun[] =>
  openRuns(followed).filter(({ dueAt }) => dueAt <= performance.now());

function updatesOf(
  event: FollowedEvent | undefined,
  followed: ReadonlyMap<string, FollowedRun>,
): RunUpdate[] {
  if (event?.type === 'run' && event.run.ended_at !== null) {
    const run = followed.get(event.run.run_id);
    if (run !== undefined) run.dueAt = 0;
  }
  if (event?.type !== 'log') return [];
  const runIds = new Set(event.logs.map(({ run_id: runId }) => runId));
  return [...runIds].flatMap((runId) => followed.get(runId)?.take(event.logs) ?? []);
}

/** Opens a stream of the events of these runs; undefined for a caller who may have none, or needs none. */
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

/** The value of all; undefined when they differ. */
const commonOf = (values: readonly (string | undefined)[]): string | undefined =>
  new Set(values).size === 1 ? values[0] : undefined;

/** Reads a stream event by event, each for a bounded time. */
class TimedReader {
  readonly #stream: EventStream;
  #next: Promise<IteratorResult<FollowedEvent, void>> | undefined;

  constructor(stream: EventStream) {
    this.#stream = stream;
  }

  /** The next event; undefined when none comes within `ms`. Throws when there is no next one. */
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
