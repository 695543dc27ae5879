import type { Device, ListedRun, LogEntry, Run } from '@phalanx/protocol';

import type { FollowedEvent } from './event-stream.ts';
import type { Operations } from './operations.ts';

export interface Followed {
  readonly deviceId?: string;
  readonly automationId?: string;
  /** Default: all of them. */
  readonly types?: readonly FollowedEvent['type'][];
}

interface KnownRun {
  readonly run: Run;
  /** By this program's clock; undefined while it goes on. */
  readonly endedAt: number | undefined;
}

/** The host of a run that has ended may still send entries for so long. */
const lateMs = 10 * 60_000;
/** Clocks of several servers differ by less. */
const clockMs = 60_000;

/** The state that a follower has received, so that it receives everything once. */
export class FollowedState {
  readonly #api: Operations;
  readonly #followed: Followed;
  readonly #devices = new Map<string, string>();
  readonly #runs = new Map<string, KnownRun>();
  /** The last entry of each run. */
  readonly #entries = new Map<string, string>();
  /** Runs that were over when the following began, and are as young as those that are read again after a break. */
  readonly #overBefore = new Set<string>();
  /** Creation time of the newest run, on the service's clock. */
  #newestMs = 0;

  constructor(api: Operations, followed: Followed) {
    this.#api = api;
    this.#followed = followed;
  }

  wants(type: FollowedEvent['type']): boolean {
    return this.#followed.types?.includes(type) ?? true;
  }

  /** Notes the present state. */
  async begin(signal: AbortSignal): Promise<void> {
    await this.#noteNewest(signal);
    const { devices, runs: found } = await this.#read(signal);
    for (const device of devices) this.#noteDevice(device);
    const runs = found.filter(({ ended_at: endedAt }) => endedAt === null);
    for (const run of found) if (run.ended_at !== null) this.#overBefore.add(run.run_id);
    for (const run of runs) this.#noteRun(run);
    if (!this.wants('log')) return;
    for (const { run_id: id } of runs) {
      const { logs } = await this.#api.runLogs({ params: { id }, query: { last: 1 } }, { signal });
      for (const entry of logs) this.#noteEntry(entry);
    }
  }

  /** By the service's clock; without any run there is no need of one. */
  async #noteNewest(signal: AbortSignal): Promise<void> {
    const { runs } = await this.#api.listRuns({ query: { ...this.#filter(), limit: 1 } }, { signal });
    const [newest] = runs;
    this.#newestMs = newest?.created_at ?? 0;
  }

  /** Events that may be new since the last one; `news` leaves out those that are not. */
  async *missed(signal: AbortSignal): AsyncGenerator<FollowedEvent, void, undefined> {
    const { devices, runs: found } = await this.#read(signal);
    const runs = found.filter(({ run_id: id }) => !this.#overBefore.has(id));
    for (const device of devices) yield { type: 'device', device };
    // Entries before the end of their run.
    if (this.wants('log')) for (const run of this.#withLogs(runs)) yield* this.#readLog(run, signal);
    for (const run of runs) yield { type: 'run', run };
    this.#forget();
  }

  async #read(signal: AbortSignal): Promise<{ devices: Device[]; runs: Run[] }> {
    return {
      devices: this.wants('device') ? await this.#listDevices(signal) : [],
      runs: this.wants('run') || this.wants('log') ? await this.#listRuns(signal) : [],
    };
  }

  /** The part of an event that the follower has not received yet. */
  *news(event: FollowedEvent): Generator<FollowedEvent, void, undefined> {
    if (event.type === 'log') {
      const logs = event.logs.filter((entry) => this.#noteEntry(entry));
      if (logs.length > 0 && this.wants('log')) yield { ...event, logs };
      return;
    }
    const isNew = event.type === 'device' ? this.#noteDevice(event.device) : this.#noteRun(event.run);
    if (isNew && this.wants(event.type)) yield event;
  }

  #noteDevice(device: Device): boolean {
    const text = JSON.stringify(device);
    if (this.#devices.get(device.device_id) === text) return false;
    this.#devices.set(device.device_id, text);
    return true;
  }

  #noteRun(run: Run): boolean {
    const known = this.#runs.get(run.run_id);
    this.#newestMs = Math.max(this.#newestMs, run.created_at);
    if (known !== undefined && !isLater(run, known.run)) return false;
    this.#runs.set(run.run_id, { run, endedAt: run.ended_at === null ? undefined : Date.now() });
    return true;
  }

  #noteEntry({ run_id: runId, id }: LogEntry): boolean {
    if (id <= (this.#entries.get(runId) ?? '')) return false;
    this.#entries.set(runId, id);
    return true;
  }

  /** Runs whose log may have grown. */
  #withLogs(rows: readonly Run[]): Run[] {
    const open = [...this.#runs.values()].filter(
      ({ endedAt }) => endedAt === undefined || endedAt > Date.now() - lateMs,
    );
    const fresh = rows.filter(({ run_id: id }) => !this.#runs.has(id));
    return [...open.map(({ run }) => run), ...fresh];
  }

  async *#readLog(
    { run_id: id, device_id: deviceId }: Run,
    signal: AbortSignal,
  ): AsyncGenerator<FollowedEvent, void, undefined> {
    for (let from = this.#entries.get(id); ;) {
      const query = from === undefined ? {} : { from };
      const { logs }: { logs: LogEntry[] } = await this.#api.runLogs({ params: { id }, query }, { signal });
      if (logs.length === 0) return;
      from = logs.at(-1)?.id;
      yield { type: 'log', device_id: deviceId, logs };
    }
  }

  async #listDevices(signal: AbortSignal): Promise<Device[]> {
    const wanted = this.#followed.deviceId;
    const found = await this.#allPages(async (page) => {
      const { devices, next_cursor: next } = await this.#api.listDevices({ query: page }, { signal });
      return { rows: devices, next };
    });
    return found.filter(({ device_id: id }) => wanted === undefined || id === wanted);
  }

  /** Runs that go on, runs that are newer than all known ones, and runs that went on when they were last received; the oldest first. */
  async #listRuns(signal: AbortSignal): Promise<Run[]> {
    const open = [...this.#runs.values()].filter(({ endedAt }) => endedAt === undefined);
    const queries = [
      { status: 'starting' } as const,
      { status: 'running' } as const,
      { created_after: Math.max(0, this.#newestMs - clockMs) },
      ...[...new Set(open.map(({ run }) => run.launch))].map((launch) => ({ launch })),
    ];
    const filter = this.#filter();
    const found = new Map<string, Run>();
    for (const query of queries)
      for (const run of await this.#allPages(async (page) => {
        const reply = await this.#api.listRuns({ query: { ...filter, ...query, ...page } }, { signal });
        return { rows: reply.runs, next: reply.next_cursor };
      }))
        found.set(run.run_id, asInEvents(run));
    return [...found.values()].toSorted((one, other) => one.created_at - other.created_at);
  }

  #filter(): { device_id?: string; automation_id?: string } {
    const { deviceId, automationId } = this.#followed;
    return {
      ...(deviceId === undefined ? {} : { device_id: deviceId }),
      ...(automationId === undefined ? {} : { automation_id: automationId }),
    };
  }

  async #allPages<Row>(
    readPage: (page: { cursor?: string }) => Promise<{ rows: Row[]; next: string | null }>,
  ): Promise<Row[]> {
    const all: Row[] = [];
    for (let page: { cursor?: string } = {}; ;) {
      const { rows, next } = await readPage(page);
      all.push(...rows);
      if (next === null) return all;
      page = { cursor: next };
    }
  }

  /** Runs that ended long ago: nothing can come of them. */
  #forget(): void {
    for (const [id, { endedAt, run }] of this.#runs) {
      const isRecent = run.created_at > this.#newestMs - 2 * clockMs;
      if (endedAt === undefined || endedAt > Date.now() - lateMs || isRecent) continue;
      this.#runs.delete(id);
      this.#entries.delete(id);
    }
  }
}

/** Lists also say who has launched a run; the same run would seem another one. */
function asInEvents(listed: ListedRun): Run {
  const run: Run & Partial<ListedRun> = { ...listed };
  delete run.launched_by;
  return run;
}

/** An event may arrive after a newer state was read. */
function isLater(run: Run, known: Run): boolean {
  if (known.ended_at !== null && run.ended_at === null) return false;
  if (known.started_at !== null && run.started_at === null) return false;
  return JSON.stringify(run) !== JSON.stringify(known);
}
