import type { KnownHostStore, StoredHost } from './known-host-store.ts';
import type { LinkedHosts } from './linked-hosts.ts';

export interface KnownHost {
  readonly id: string;
  readonly ownerId: string;
  readonly name: string;
  readonly isConnected: boolean;
  /** When it connected, or its connection ended, epoch ms; null: that is not known. */
  readonly since: number | null;
}

interface Options {
  store: KnownHostStore;
  linked: Pick<LinkedHosts, 'has'>;
  /** This server's. */
  nodeId: string;
}

/** The hosts that are connected or have been, to whichever server. */
export class KnownHosts {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  async listOfOwners(ownerIds: readonly string[]): Promise<KnownHost[]> {
    const rows = await this.#options.store.listOfOwners(ownerIds);
    return rows.map((row) => ({
      ...{ id: row.given_id, ownerId: row.owner_id, name: row.name },
      isConnected: this.#isConnected(row),
      since: row.is_connected === 1 ? row.opened_at : row.ended_at,
    }));
  }

  /** Of this server's own connections it knows the end before it is stored. */
  #isConnected({ is_connected, node_id, epoch }: StoredHost): boolean {
    const { linked, nodeId } = this.#options;
    return is_connected === 1 && (node_id !== nodeId || linked.has(epoch ?? 0));
  }
}
