import { isEnded } from '@phalanx/protocol';

import type { ConnectedHosts } from '../../fleet/hosts/connected-hosts.ts';
import type { ActiveRunStore } from './active-run-store.ts';
import type { ActiveRun, ActiveRuns } from './active-runs.ts';
import type { RunStore } from './store.ts';
import type { StoredRun } from './stored-run.ts';

interface Options {
  store: Pick<RunStore, 'callOff'>;
  activeRunRows: Pick<ActiveRunStore, 'requestStop'>;
  activeRuns: ActiveRuns;
  hosts: Pick<ConnectedHosts, 'flush'>;
  /** Timeout for hosts to confirm the end, in ms. */
  timeoutMs: number;
}

/** Requests hosts to end runs. The request is repeated to a host that is away or is cut off, once it reconnects. */
export class RunStops {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  get timeoutMs(): number {
    return this.#options.timeoutMs;
  }

  /** Stops runs. Resolves when they have ended, or after the timeout, with the runs whose end is not confirmed. */
  async stop(runs: readonly ActiveRun[]): Promise<ActiveRun[]> {
    if (runs.length === 0) return [];
    const { activeRuns, activeRunRows, timeoutMs } = this.#options;
    const runIds = runs.map((run) => run.runId);
    const ends = activeRuns.waitFor(runIds, ({ status }) => isEnded(status), timeoutMs);
    this.#flush(await activeRunRows.requestStop(runIds));
    const ended = await ends;
    return runs.filter(({ runId }) => !ended.has(runId));
  }

  /**
   * Calls off runs whose host has not answered, so that they never begin: their callers get the reply that they have
   * not started. Returns the runs that have begun after all.
   */
  async callOff(runIds: readonly string[]): Promise<StoredRun[]> {
    if (runIds.length === 0) return [];
    const { begun, calledOff } = await this.#options.store.callOff(runIds);
    this.#flush(calledOff.flatMap(({ epoch }) => epoch ?? []));
    return begun;
  }

  #flush(epochs: readonly number[]): void {
    for (const epoch of new Set(epochs)) this.#options.hosts.flush(epoch);
  }
}
