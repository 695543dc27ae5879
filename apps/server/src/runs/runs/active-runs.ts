import type { HostLink } from '../../fleet/hosts/host-link.ts';
import type { RunOrigin, StoredRun } from './stored-run.ts';

/** A run that has not ended. */
export interface ActiveRun extends RunOrigin {
  readonly runId: string;
  readonly deviceOwnerId: string;
  readonly hostId: string;
  /** The caller's launch ID; null for a project. */
  readonly launchId: string | null;
  /** The stored run; `stopRequested` may be newer. */
  row: StoredRun;
  stopRequested: boolean;
  /** Epoch of the connection that carried the launch or reported the run; null when there was none since the start. */
  epoch: number | null;
}

/**
 * In-memory index of the active runs of the hosts that are connected to this server. The stored rows are authoritative.
 */
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

  /** Replaces the stored row of a run that is still active. */
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

  /** Removes the runs of a closed connection, because the host may connect to another server next. */
  removeOfEpoch(epoch: number): void {
    for (const run of this.all()) if (run.epoch === epoch) this.remove(run.runId);
  }

  /** Lists the runs that callers wait for, whichever server has their hosts. */
  awaited(): string[] {
    return [...this.#listeners.keys()];
  }

  isAwaited(runId: string): boolean {
    return this.#listeners.has(runId);
  }

  /** Passes the stored state of a run to the callers who wait for it. */
  notify(row: StoredRun): void {
    for (const listener of this.#listeners.get(row.id) ?? []) listener(row);
  }

  /**
   * Waits until `isDone` has been true for each run, or until the timeout. Resolves with the stored rows of the runs
   * for which it was. Only later changes count.
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
