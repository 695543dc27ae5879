import { LRUCache } from 'lru-cache';

import type { HostLink } from '../hosts/host-link.ts';
import type { LogStream } from '../logs/log-batch.ts';
import type { RunStore } from './store.ts';
import type { StoredRun } from './stored-run.ts';

/** Runs whose entries keep coming; a run that is not among them costs one read of the database. */
const cacheSize = 20_000;

interface OwnedStream extends LogStream {
  readonly hostId: string;
  readonly deviceOwnerId: string;
}

/** Tells to which device and automation the log entries of a run belong, and whether the host may send them. */
export class RunOwners {
  readonly #store: RunStore;
  readonly #cache = new LRUCache<string, OwnedStream>({
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

  async #load(runId: string): Promise<OwnedStream | undefined> {
    const row = await this.#store.find(runId);
    return row === undefined ? undefined : this.note(row);
  }

  /** Call it for each run that is launched: its first entries then wait for no read. */
  note(row: StoredRun): OwnedStream {
    const stream = {
      runId: row.id,
      deviceId: row.device_id,
      automationId: row.automation_id,
      userId: row.user_id,
      isDirect: row.launch_id !== null,
      hostId: row.host_id,
      deviceOwnerId: row.device_owner_id,
    };
    this.#cache.set(row.id, stream);
    return stream;
  }
}
