import type { HostPage, KnownHostStore, StoredHost } from './store.ts';
import type { LinkedHosts } from './linked-hosts.ts';

export interface KnownHost {
  readonly id: string;
  readonly ownerId: string;
  readonly name: string;
  readonly isConnected: boolean;
  /** When it connected, or its connection ended, epoch ms; null: that is not known. */
  readonly since: number | null;
  /** Of its newest connection. */
  readonly epoch: number | null;
  /** Whether that is a connection to this server. */
  readonly isHere: boolean;
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

  async listPageOf(ownerId: string, page: HostPage): Promise<KnownHost[]> {
    return (await this.#options.store.listPageOf(ownerId, page)).map((row) => this.#view(row));
  }

  async listOfId(ownerIds: readonly string[], id: string): Promise<KnownHost[]> {
    return (await this.#options.store.listOfId(ownerIds, id.toLowerCase())).map((row) => this.#view(row));
  }

  /** The connections of hosts of these users that replay saved screens. */
  async listReplaying(ownerIds: readonly string[]): Promise<number[]> {
    const rows = await this.#options.store.listReplaying(ownerIds);
    return rows.flatMap((row) => (this.#isConnected(row) && row.epoch !== null ? [row.epoch] : []));
  }

  #view(row: StoredHost): KnownHost {
    return {
      ...{ id: row.given_id, ownerId: row.owner_id, name: row.name, epoch: row.epoch },
      isConnected: this.#isConnected(row),
      isHere: row.node_id === this.#options.nodeId,
      since: row.is_connected === 1 ? row.opened_at : row.ended_at,
    };
  }

  /** Of this server's own connections it knows the end before it is stored. */
  #isConnected({ is_connected, node_id, epoch }: StoredHost): boolean {
    const { linked, nodeId } = this.#options;
    return is_connected === 1 && (node_id !== nodeId || linked.has(epoch ?? 0));
  }
}
