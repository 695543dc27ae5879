import { boundedCache } from '../../kernel/bounded-cache.ts';
import type { RunStore } from './store.ts';
import type { HostLink } from '../../fleet/hosts/host-link.ts';
import { activeRunOf, type ActiveRun, type ActiveRuns } from './active-runs.ts';

/** Number of cached runs that have ended but still deliver log entries. An uncached run costs one read. */
const cacheSize = 20_000;

/** Finds the stream that a run's log entries belong to, and checks that the host may send them. */
export class RunOwners {
  readonly #store: RunStore;
  readonly #activeRuns: ActiveRuns;
  readonly #ended = boundedCache<ActiveRun>(cacheSize);

  constructor(store: RunStore, activeRuns: ActiveRuns) {
    this.#store = store;
    this.#activeRuns = activeRuns;
  }

  async findStream(link: HostLink, runId: string): Promise<ActiveRun | undefined> {
    const run = this.#activeRuns.find(runId) ?? this.#ended.get(runId) ?? (await this.#load(runId));
    const isTheirs = run?.hostId === link.hostId && run.deviceOwnerId === link.userId;
    return isTheirs ? run : undefined;
  }

  async #load(runId: string): Promise<ActiveRun | undefined> {
    const row = await this.#store.find(runId);
    if (row === undefined) return undefined;
    const run = activeRunOf(row, null);
    this.#ended.set(runId, run);
    return run;
  }
}
