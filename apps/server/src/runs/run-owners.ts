import { LRUCache } from 'lru-cache';

import type { HostLink } from '../hosts/host-link.ts';
import type { LogStream } from '../logs/log-batch.ts';
import type { RunStore } from './store.ts';

/** Runs whose entries keep coming; a run that is not among them costs one read of the database. */
const cacheSize = 20_000;

/** Tells to which device and automation the log entries of a run belong, and whether the host may send them. */
export class RunOwners {
  readonly #store: RunStore;
  readonly #cache = new LRUCache<string, LogStream & { hostId: string; deviceOwnerId: string }>({
    max: cacheSize,
  });

  constructor(store: RunStore) {
    this.#store = store;
  }

  async findStream(link: HostLink, runId: string): Promise<LogStream | undefined> {
    const known = this.#cache.get(runId) ?? (await this.#load(runId));
    const isTheirs = known?.hostId === link.hostId && known.deviceOwnerId === link.userId;
    return isTheirs ? known : undefined;
  }

  async #load(runId: string): Promise<(LogStream & { hostId: string; deviceOwnerId: string }) | undefined> {
    const row = await this.#store.find(runId);
    if (row === undefined) return undefined;
    const stream = {
      runId,
      deviceId: row.device_id,
      automationId: row.automation_id,
      userId: row.user_id,
      isDirect: row.launch_id !== null,
      hostId: row.host_id,
      deviceOwnerId: row.device_owner_id,
    };
    this.#cache.set(runId, stream);
    return stream;
  }
}
