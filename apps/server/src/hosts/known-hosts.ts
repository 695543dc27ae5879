import type { HostLink } from './host-link.ts';

export interface KnownHost {
  readonly id: string;
  readonly ownerId: string;
  name: string;
  /** Of its connection; null: it is not connected. */
  epoch: number | null;
  /** When it connected, or its connection ended, epoch ms; null: that is not known. */
  since: number | null;
}

const keyOf = (ownerId: string, hostId: string): string => `${ownerId} ${hostId}`;

/** The hosts that are connected or have been. */
export class KnownHosts {
  readonly #byKey = new Map<string, KnownHost>();
  readonly #most: number;

  /** Of one user at most so many are known. */
  constructor(most: number) {
    this.#most = most;
  }

  all(): KnownHost[] {
    return [...this.#byKey.values()];
  }

  /** A host that was connected before the service started. */
  remember(host: Omit<KnownHost, 'epoch'>): void {
    const key = keyOf(host.ownerId, host.id);
    if (!this.#byKey.has(key)) this.#byKey.set(key, { ...host, epoch: null });
  }

  connected({ userId: ownerId, hostId: id, hostName: name, epoch }: HostLink, since: number): void {
    const key = keyOf(ownerId, id);
    if (!this.#byKey.has(key)) this.#makeRoom(ownerId);
    this.#byKey.set(key, { id, ownerId, name, epoch, since });
  }

  /** The one that is gone for longest. */
  #makeRoom(ownerId: string): void {
    if (this.#byKey.size < this.#most) return;
    const own = this.all().filter((host) => host.ownerId === ownerId);
    if (own.length < this.#most) return;
    const gone = own.filter((host) => host.epoch === null);
    const [oldest] = gone.toSorted((one, other) => (one.since ?? 0) - (other.since ?? 0));
    if (oldest !== undefined) this.#byKey.delete(keyOf(ownerId, oldest.id));
  }

  disconnected(link: HostLink, since: number): void {
    const host = this.#byKey.get(keyOf(link.userId, link.hostId));
    // Its next connection may be here before this one's end.
    if (host?.epoch === link.epoch) Object.assign(host, { epoch: null, since });
  }
}
