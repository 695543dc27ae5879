import type { Clock } from '../../kernel/clock.ts';
import type { FaultMonitor } from '../../kernel/faults/fault-monitor.ts';
import type { Limits } from '../../kernel/limits/limits.ts';
import type { HostCandidate, HostStore } from './store.ts';
import { Batcher } from '../../kernel/batcher.ts';

/** Thrown when a host may not connect; the error text is shown to its operator. */
export class HostRefused extends Error {
  override readonly name = 'HostRefused';
}

/** Last connection of a disconnected host. */
export interface AwayHost {
  readonly userId: string;
  readonly hostId: string;
  readonly epoch: number;
}

interface Options {
  store: HostStore;
  limits: Limits;
  clock: Clock;
  faults: FaultMonitor;
  node: { readonly id: string; upSince(): Promise<number> };
}

/** Maximum characters of a token name in a close reason, which holds at most 123 bytes. */
const maxShownName = 20;

/**
 * Connections of hosts, with the token of each. A host ID belongs to the token that first connected with it until that
 * token is revoked or expires. Another token of the same user can't take over the host ID, and so can't receive what is
 * launched on the phones of the host.
 */
export class HostSessions {
  readonly #options: Options;
  readonly #ended: Batcher<number>;

  constructor(options: Options) {
    this.#options = options;
    this.#ended = new Batcher({
      work: (epochs) => this.#storeEnds(epochs),
      faults: options.faults,
      failureMessage: 'the end of a host connection could not be stored',
    });
    options.limits.registerUsage('hosts', (userId) => options.store.count(userId));
  }

  /** Returns the epoch of the connection, greater than that of every earlier one. Throws `HostRefused`. */
  async open(candidate: HostCandidate): Promise<number> {
    const { store, clock, limits, node } = this.#options;
    const maxHosts = limits.limitOf('hosts');
    const opening = await store.open(candidate, { nodeId: node.id, maxHosts, now: clock.now() });
    if (opening === 'too_many') {
      limits.note('hosts', candidate.userId);
      throw new HostRefused(`Its user already has ${maxHosts} hosts, the limit (PHALANX_MAX_HOSTS)`);
    }
    if ('epoch' in opening) return opening.epoch;
    const name = opening.belongsTo.slice(0, maxShownName).replaceAll(/[^\x20-\x7e]/g, '?');
    throw new HostRefused(
      `This host ID belongs to token "${name}": revoke it, or give this host a data folder of its own`,
    );
  }

  /** Records the end of a connection. Connections that end together are stored in one batch. */
  end(epoch: number): void {
    this.#ended.add([epoch]);
  }

  /**
   * Stores why the host of a connection finds no phones; null clears the reason. Returns false when storing fails and
   * the host has to report it again.
   */
  async setProblem(epoch: number, problem: string | null): Promise<boolean> {
    const { store, faults } = this.#options;
    try {
      await store.setProblem(epoch, problem);
      return true;
    } catch (error) {
      faults.report(error, 'the problem that a host reported could not be stored');
      return false;
    }
  }

  /** Lists the hosts that have been disconnected for at least this time, while the service was up. */
  async listAway(forMs: number): Promise<AwayHost[]> {
    const { store, clock, node } = this.#options;
    const since = clock.now() - forMs;
    if ((await node.upSince()) > since) return [];
    const away = await store.listAway(since);
    return away.map(({ owner_id: userId, host_id: hostId, epoch }) => ({ userId, hostId, epoch }));
  }

  /** Resolves when all ends of connections so far are stored. */
  endsStored(): Promise<void> {
    return this.#ended.end();
  }

  async #storeEnds(epochs: readonly number[]): Promise<void> {
    const { store, clock, faults } = this.#options;
    const now = clock.now();
    await faults.untilDone(() => store.end(epochs, now));
  }
}
