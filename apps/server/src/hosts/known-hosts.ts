import type { HostLink } from './host-link.ts';

export interface KnownHost {
  readonly id: string;
  readonly ownerId: string;
  name: string;
  /** Null: it is not connected. */
  connectionId: string | null;
  /** When it connected, or its connection ended, epoch ms; null: before the service started. */
  since: number | null;
}

const keyOf = (ownerId: string, hostId: string): string => `${ownerId} ${hostId}`;

/** The hosts that are connected or have been. */
export class KnownHosts {
  readonly #byKey = new Map<string, KnownHost>();

  all(): KnownHost[] {
    return [...this.#byKey.values()];
  }

  /** A host of which only its phones are stored. */
  remember(ownerId: string, id: string, name: string): void {
    const key = keyOf(ownerId, id);
    if (!this.#byKey.has(key)) this.#byKey.set(key, { id, ownerId, name, connectionId: null, since: null });
  }

  connected({ userId: ownerId, hostId: id, hostName: name, connectionId }: HostLink, since: number): void {
    this.#byKey.set(keyOf(ownerId, id), { id, ownerId, name, connectionId, since });
  }

  disconnected(link: HostLink, since: number): void {
    const host = this.#byKey.get(keyOf(link.userId, link.hostId));
    // Its next connection may be here before this one's end.
    if (host?.connectionId === link.connectionId) Object.assign(host, { connectionId: null, since });
  }
}
