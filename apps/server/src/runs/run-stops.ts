import { isEnded } from '@phalanx/protocol';

import type { HostLink } from '../hosts/host-link.ts';
import type { ActiveRun, ActiveRuns } from './active-runs.ts';
import type { RunStore } from './store.ts';

interface Options {
  store: RunStore;
  activeRuns: ActiveRuns;
  /** The connection that has the device now. */
  linkOf: (deviceId: string) => HostLink | null;
  /** How long hosts have to confirm the end. */
  timeoutMs: number;
}

/** Asks hosts to end runs. A host that is away, or is cut off in between, is told again when it is back. */
export class RunStops {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  async request(runs: readonly ActiveRun[]): Promise<void> {
    if (runs.length === 0) return;
    // Before anything waits: a host that comes back meanwhile must hear of it.
    for (const run of runs) run.stopRequested = true;
    for (const [link, onLink] of Map.groupBy(runs, (run) => this.#options.linkOf(run.deviceId))) {
      link?.send({ type: 'stop', run_ids: onLink.map((run) => run.runId) });
    }
    await this.#options.store.requestStop(runs.map((run) => run.runId));
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
    await this.request(runs);
    const ended = await ends;
    return runs.filter(({ runId }) => !ended.has(runId));
  }
}
