import { isEnded } from '@phalanx/protocol';

import type { LinkedHosts } from '../hosts/linked-hosts.ts';
import type { ActiveRun, ActiveRuns } from './active-runs.ts';
import type { PlacedRuns } from './placed-runs.ts';
import type { RunStore } from './store.ts';
import type { StoredRun } from './stored-run.ts';

interface Options {
  store: Pick<RunStore, 'requestStop'>;
  activeRuns: ActiveRuns;
  hosts: Pick<LinkedHosts, 'send' | 'look'>;
  /** Where there are several servers. */
  placed: PlacedRuns | undefined;
  /** How long hosts have to confirm the end. */
  timeoutMs: number;
}

/** Asks hosts to end runs. A host that is away, or is cut off in between, is told again when it is back. */
export class RunStops {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  get timeoutMs(): number {
    return this.#options.timeoutMs;
  }

  /** Resolves when the runs have ended, or after the time limit, with those of which that is not known. */
  async stop(runs: readonly ActiveRun[]): Promise<ActiveRun[]> {
    if (runs.length === 0) return [];
    const { activeRuns, timeoutMs } = this.#options;
    const runIds = runs.map((run) => run.runId);
    const ends = activeRuns.waitFor(runIds, ({ status }) => isEnded(status), timeoutMs);
    await this.#request(runs);
    const ended = await ends;
    return runs.filter(({ runId }) => !ended.has(runId));
  }

  /**
   * Runs whose host has not answered must not begin later, behind the back of a caller who was told that they had not.
   * Returns those that have begun after all.
   */
  async callOff(runIds: readonly string[]): Promise<StoredRun[]> {
    if (runIds.length === 0) return [];
    const { placed, hosts, activeRuns } = this.#options;
    if (placed === undefined) {
      await this.#request(runIds.flatMap((id) => activeRuns.find(id) ?? []));
      return [];
    }
    const { begun, epochs } = await placed.callOff(runIds);
    for (const epoch of epochs) hosts.look(epoch);
    return begun;
  }

  async #request(runs: readonly ActiveRun[]): Promise<void> {
    const { placed, hosts, store } = this.#options;
    const runIds = runs.map((run) => run.runId);
    if (runIds.length === 0) return;
    if (placed !== undefined) {
      for (const epoch of await placed.requestStop(runIds)) hosts.look(epoch);
      return;
    }
    // Before anything waits: a host that comes back meanwhile must hear of it.
    for (const run of runs) run.stopRequested = true;
    for (const [epoch, onLink] of Map.groupBy(runs, (run) => run.epoch)) {
      if (epoch === null) continue;
      hosts.send(epoch, { type: 'stop', run_ids: onLink.map((run) => run.runId) });
    }
    await store.requestStop(runIds);
  }
}
