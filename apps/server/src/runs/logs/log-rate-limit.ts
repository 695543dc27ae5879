import { closeCodes } from '@phalanx/protocol';
import type { HostLink } from '../../fleet/hosts/host-link.ts';
import type { Limits } from '../../kernel/limits/limits.ts';

interface Batch {
  readonly sizeBytes: number;
  readonly store: () => void;
}

/** Maximum bytes held back per user. Our own hosts never exceed it: they stop sending without acknowledgements. */
const maxHeldBytes = 32 * 1024 * 1024;

/**
 * Throttles logs per user. Batches beyond the limit are held back in order and are not acknowledged: the host keeps the
 * entries that follow, and reports how many it had to drop.
 */
export class LogRateLimit {
  readonly #limits: Limits;
  readonly #held = new Map<HostLink, Batch[]>();
  readonly #heldBytes = new Map<string, number>();

  constructor(limits: Limits) {
    this.#limits = limits;
    limits.registerUsage('log_bytes', (userId) =>
      Math.round(limits.logs.share(userId) * limits.limitOf('log_bytes')),
    );
  }

  /** Calls `store` at once, or later in the order of the calls when the user is throttled. */
  pass(link: HostLink, batch: Batch): void {
    const held = this.#held.get(link);
    const waitMs = held === undefined ? this.#limits.logs.spend(link.userId, batch.sizeBytes) : 0;
    if (held === undefined && waitMs === 0) return batch.store();
    if (held === undefined) {
      this.#limits.note('log_bytes', link.userId);
      this.#held.set(link, [batch]);
      setTimeout(() => this.#release(link), waitMs);
    } else held.push(batch);
    if (this.#count(link, batch.sizeBytes) > maxHeldBytes)
      link.drop(closeCodes.tryAgainLater, 'log entries come without waiting for their acknowledgement');
  }

  forget(link: HostLink): void {
    for (const { sizeBytes } of this.#held.get(link) ?? []) this.#count(link, -sizeBytes);
    this.#held.delete(link);
  }

  #release(link: HostLink): void {
    const held = this.#held.get(link) ?? [];
    for (let next = held[0]; next !== undefined; next = held[0]) {
      const waitMs = this.#limits.logs.spend(link.userId, next.sizeBytes);
      if (waitMs > 0) return void setTimeout(() => this.#release(link), waitMs);
      held.shift();
      this.#count(link, -next.sizeBytes);
      next.store();
    }
    this.#held.delete(link);
  }

  #count({ userId }: HostLink, change: number): number {
    const bytes = (this.#heldBytes.get(userId) ?? 0) + change;
    if (bytes > 0) this.#heldBytes.set(userId, bytes);
    else this.#heldBytes.delete(userId);
    return bytes;
  }
}
