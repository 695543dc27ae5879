import type { Clock } from '../clock.ts';
import type { Limits } from '../limits/limits.ts';
import type { HostClaim, HostStore } from './store.ts';

/** A host that may not connect; the text goes to its operator. */
export class HostRefused extends Error {
  override readonly name = 'HostRefused';
}

export interface HostCandidate {
  readonly userId: string;
  readonly tokenId: string;
  readonly hostId: string;
}

interface Options {
  store: HostStore;
  limits: Limits;
  clock: Clock;
  isConnected: (userId: string, hostId: string) => boolean;
}

/** The reason of a close has 123 bytes. */
const maxShownName = 20;

/**
 * Who may connect as which host. A host ID belongs to the token that first connected with it, until that is revoked or
 * has expired: with another token of the same user nobody gets what is launched on the phones of the host.
 */
export class HostAdmission {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
    options.limits.show('hosts', (userId) => options.store.count(userId));
  }

  /** Throws `HostRefused`. */
  async admit({ userId, tokenId, hostId }: HostCandidate): Promise<void> {
    const { store, clock } = this.#options;
    const id = hostId.toLowerCase();
    const claim = await store.find(userId, id);
    if (claim === undefined) await this.#requireRoom(userId);
    else this.#requireToken(claim, tokenId);
    await store.save({ owner_id: userId, id, token_id: tokenId, seen_at: clock.now() });
  }

  #requireToken(claim: HostClaim, tokenId: string): void {
    const isFree = claim.token_id === null || (claim.expires_at ?? Infinity) <= this.#options.clock.now();
    if (isFree || claim.token_id === tokenId) return;
    const name = (claim.name ?? '').slice(0, maxShownName).replaceAll(/[^\x20-\x7e]/g, '?');
    throw new HostRefused(
      `This host ID belongs to token "${name}": revoke it, or give this host a data folder of its own`,
    );
  }

  /** A host that is gone, and had no phones, makes room. */
  async #requireRoom(userId: string): Promise<void> {
    const { store, limits, isConnected } = this.#options;
    const most = limits.most('hosts');
    if ((await store.count(userId)) < most) return;
    const gone = (await store.listEmpty(userId)).find((id) => !isConnected(userId, id));
    if (gone !== undefined) return store.delete(userId, gone);
    limits.note('hosts', userId);
    throw new HostRefused(`Its user has ${most} hosts already, the limit (PHALANX_MAX_HOSTS)`);
  }
}
