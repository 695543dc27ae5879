import type { HostLink } from '../../fleet/hosts/host-link.ts';
import type { RunOrigin, StoredRun } from './stored-run.ts';

/** A run that has not ended. */
export interface ActiveRun extends RunOrigin {
  readonly runId: string;
  readonly deviceOwnerId: string;
  readonly hostId: string;
  /** The caller's launch ID; null for a project. */
  readonly launchId: string | null;
  /** The run as it is stored; `stopRequested` may be newer. */
  row: StoredRun;
  stopRequested: boolean;
  /** The connection that carried the launch, or on which the host reported the run; null: none since the start. */
  epoch: number | null;
}

/** Runs that have not ended, of the hosts that are connected to this server. The stored rows are the truth. */
export class ActiveRuns {
  readonly #byId = new Map<string, ActiveRun>();
  readonly #byDevice = new Map<string, Set<ActiveRun>>();
  readonly #listeners = new Map<string, Set<(row: StoredRun) => void>>();

  get size(): number {
    return this.#byId.size;
  }

  find(runId: string): ActiveRun | undefined {
    return this.#byId.get(runId);
  }

  onDevice(deviceId: string): ActiveRun[] {
    return [...(this.#byDevice.get(deviceId) ?? [])];
  }

  ofHost(link: Pick<HostLink, 'hostId' | 'userId'>): ActiveRun[] {
    return [...this.#byId.values()].filter(
      (run) => run.hostId === link.hostId && run.deviceOwnerId === link.userId,
    );
  }

  all(): ActiveRun[] {
    return [...this.#byId.values()];
  }

  add(run: ActiveRun): void {
    this.#byId.set(run.runId, run);
    const onDevice = this.#byDevice.get(run.deviceId) ?? new Set();
    this.#byDevice.set(run.deviceId, onDevice.add(run));
  }

  /** Takes over the stored row of a run that goes on. */
  update(run: ActiveRun, row: StoredRun): void {
    run.row = row;
  }

  remove(runId: string): void {
    const run = this.#byId.get(runId);
    if (run === undefined) return;
    this.#byId.delete(runId);
    const onDevice = this.#byDevice.get(run.deviceId);
    onDevice?.delete(run);
    if (onDevice?.size === 0) this.#byDevice.delete(run.deviceId);
  }

  /** Removes the runs of a connection that is gone: another server may have its host next. */
  removeOfEpoch(epoch: number): void {
    for (const run of this.all()) if (run.epoch === epoch) this.remove(run.runId);
  }

  /** Lists the runs that somebody waits for, wherever their hosts are. */
  awaited(): string[] {
    return [...this.#listeners.keys()];
  }

  isAwaited(runId: string): boolean {
    return this.#listeners.has(runId);
  }

  /** Tells those who wait for a run what is stored of it now. */
  notify(row: StoredRun): void {
    for (const listener of this.#listeners.get(row.id) ?? []) listener(row);
  }

  /**
   * Resolves when `isDone` has held for each of the runs, or after the timeout, with the stored rows of the runs for
   * which it has. Only changes from now on count.
   */
  async waitFor(
    runIds: readonly string[],
    isDone: (row: StoredRun) => boolean,
    timeoutMs: number,
  ): Promise<Map<string, StoredRun>> {
    const done = new Map<string, StoredRun>();
    if (runIds.length === 0) return done;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, timeoutMs);
    const take = (row: StoredRun): void => {
      if (isDone(row)) done.set(row.id, row);
      if (done.size === runIds.length) resolve();
    };
    const cancel = runIds.map((id) => this.#listen(id, take));
    await promise;
    clearTimeout(timer);
    for (const end of cancel) end();
    return done;
  }

  #listen(runId: string, listener: (row: StoredRun) => void): () => void {
    const listeners = this.#listeners.get(runId) ?? new Set();
    this.#listeners.set(runId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(runId);
    };
  }
}

export function activeRunOf(row: StoredRun, epoch: number | null): ActiveRun {
  return {
    row,
    runId: row.id,
    userId: row.user_id,
    deviceId: row.device_id,
    deviceOwnerId: row.device_owner_id,
    hostId: row.host_id,
    automationId: row.automation_id,
    launchId: row.launch_id,
    isDirect: row.launch_id !== null,
    stopRequested: row.stop_requested === 1,
    epoch,
  };
}
