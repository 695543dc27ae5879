import type { ConnectedHosts } from './connected-hosts.ts';
import type { HostPage, KnownHostStore, StoredHost } from './store.ts';

export interface KnownHost {
  readonly id: string;
  readonly ownerId: string;
  readonly name: string;
  readonly isConnected: boolean;
  /** Time when the host connected, or when its connection ended, epoch ms; null when unknown. */
  readonly since: number | null;
  /** Reason why the host finds no phones, and how to fix it; null when it reports none or is not connected. */
  readonly problem: string | null;
  /** Epoch of the newest connection of the host. */
  readonly epoch: number | null;
  /** Whether the newest connection of the host is to this server. */
  readonly isHere: boolean;
}

interface Options {
  store: KnownHostStore;
  connected: Pick<ConnectedHosts, 'has'>;
  /** ID of this server. */
  nodeId: string;
}

/** Hosts that are or have been connected to any server. */
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

  /** Lists the connection epochs of hosts of these users that replay saved screens. */
  async listReplaying(ownerIds: readonly string[]): Promise<number[]> {
    const rows = await this.#options.store.listReplaying(ownerIds);
    return rows.flatMap((row) => (this.#isConnected(row) && row.epoch !== null ? [row.epoch] : []));
  }

  #view(row: StoredHost): KnownHost {
    return {
      id: row.given_id,
      ownerId: row.owner_id,
      name: row.name,
      epoch: row.epoch,
      isConnected: this.#isConnected(row),
      isHere: row.node_id === this.#options.nodeId,
      problem: this.#isConnected(row) ? row.problem : null,
      since: row.is_connected === 1 ? row.opened_at : row.ended_at,
    };
  }

  /** Whether the host is connected. This server knows that its own connections have ended before that is stored. */
  #isConnected({ is_connected, node_id, epoch }: StoredHost): boolean {
    const { connected, nodeId } = this.#options;
    return is_connected === 1 && (node_id !== nodeId || connected.has(epoch ?? 0));
  }
}
