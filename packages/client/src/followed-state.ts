import type { Device, ListedRun, LogEntry, Run } from '@phalanx/protocol';

import type { FollowedEvent } from './event-stream.ts';
import type { Operations } from './operations.ts';
import { readAll } from './read-all.ts';

export interface Followed {
  readonly deviceId?: string;
  readonly automationId?: string;
  /** Types of events to follow. Default: all. */
  readonly types?: readonly FollowedEvent['type'][];
}

interface KnownRun {
  readonly run: Run;
  /** End of the run on this program's clock; undefined while it is running. */
  readonly endedAt: number | undefined;
}

/** Time in milliseconds after the end of a run in which its host may still send entries. */
const lateMs = 10 * 60_000;
/** Maximum difference between the clocks of several servers, in milliseconds. */
const clockMs = 60_000;

/** State that a follower has received, so that it receives everything once. */
export class FollowedState {
  readonly #api: Operations;
  readonly #followed: Followed;
  readonly #devices = new Map<string, string>();
  readonly #runs = new Map<string, KnownRun>();
  /** ID of the last entry of each run. */
  readonly #entries = new Map<string, string>();
  /** Runs that had ended before following began, but are recent enough to be read again after a broken connection. */
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

  /** Records the current state. */
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

  /** Records the creation time of the newest run, on the service's clock; without any run, it is not needed. */
  async #noteNewest(signal: AbortSignal): Promise<void> {
    const { runs } = await this.#api.listRuns({ query: { ...this.#filter(), limit: 1 } }, { signal });
    const [newest] = runs;
    this.#newestMs = newest?.created_at ?? 0;
  }

  /** Yields events that may be new since the last one. `news` drops those that are not. */
  async *missed(signal: AbortSignal): AsyncGenerator<FollowedEvent, void, undefined> {
    const { devices, runs: found } = await this.#read(signal);
    const runs = found.filter(({ run_id: id }) => !this.#overBefore.has(id));
    for (const device of devices) yield { type: 'device', device };
    // Log entries precede the end of their run.
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

  /** Yields the part of an event that the follower has not received yet. */
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

  /** Returns the runs whose log may have grown. */
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
    const found = await readAll(
      (query) => this.#api.listDevices({ query }, { signal }),
      ({ devices }) => devices,
    );
    return found.filter(({ device_id: id }) => wanted === undefined || id === wanted);
  }

  /**
   * Returns running runs, runs newer than all known ones, and runs that were running when last received, oldest first.
   */
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
    for (const query of queries) {
      const runs = await readAll(
        (page) => this.#api.listRuns({ query: { ...filter, ...query, ...page } }, { signal }),
        (page) => page.runs,
      );
      for (const run of runs) found.set(run.run_id, asInEvents(run));
    }
    return [...found.values()].toSorted((one, other) => one.created_at - other.created_at);
  }

  #filter(): { device_id?: string; automation_id?: string } {
    const { deviceId, automationId } = this.#followed;
    return {
      ...(deviceId === undefined ? {} : { device_id: deviceId }),
      ...(automationId === undefined ? {} : { automation_id: automationId }),
    };
  }

  /** Forgets runs that ended long ago and can't change any more. */
  #forget(): void {
    for (const [id, { endedAt, run }] of this.#runs) {
      const isRecent = run.created_at > this.#newestMs - 2 * clockMs;
      if (endedAt === undefined || endedAt > Date.now() - lateMs || isRecent) continue;
      this.#runs.delete(id);
      this.#entries.delete(id);
    }
  }
}

/** Removes the launcher, which only lists contain; otherwise the same run would look changed. */
function asInEvents(listed: ListedRun): Run {
  const run: Run & Partial<ListedRun> = { ...listed };
  delete run.launched_by;
  return run;
}

/** Whether the run is a later state, because an event may arrive after a newer state was read. */
function isLater(run: Run, known: Run): boolean {
  if (known.ended_at !== null && run.ended_at === null) return false;
  if (known.started_at !== null && run.started_at === null) return false;
  return JSON.stringify(run) !== JSON.stringify(known);
}
