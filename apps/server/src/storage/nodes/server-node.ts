import { randomUUID } from 'node:crypto';
import type { FaultMonitor } from '../../kernel/faults/fault-monitor.ts';
import type { NodeStore } from './store.ts';
import type { Clock } from '../../kernel/clock.ts';
import { periodically } from '../../kernel/periodically.ts';
import { leaseMs } from '../db/lease.ts';

interface Options {
  /** Name that the operator gave; empty when there is none. */
  name: string;
  /** Whether the lock of the database keeps other servers away. */
  isAlone: boolean;
  store: NodeStore;
  clock: Clock;
  faults: FaultMonitor;
  /** Told the time of the database, and when it was asked and answered here; epoch ms. */
  onTime?: ((now: number, askedAt: number, answeredAt: number) => void) | undefined;
}

const renewEveryMs = 1000;
/** Gap between renewals that shows an obstacle, which the other servers perhaps had too. */
const lateMs = 2500;

/** This server, as one that others know to be alive. */
export class ServerNode {
  /** A new ID at each start. */
  readonly id = randomUUID();
  readonly name: string;
  readonly #options: Options;
  readonly #onGone: (() => void)[] = [];
  #renewedAt = performance.now();
  /** Time before which a lease that is over says nothing about its server; by `performance.now()`. */
  #judgesFrom = 0;
  #endRenewing: () => Promise<void> = async () => undefined;

  private constructor(options: Options) {
    this.#options = options;
    this.name = options.name;
  }

  static async open(options: Options): Promise<ServerNode> {
    const node = new ServerNode(options);
    const { store, clock, faults, isAlone } = options;
    await store.begin(node.id, clock.now(), isAlone);
    if (store.hasLeases) node.#endRenewing = periodically(faults, renewEveryMs, () => node.#renew());
    return node;
  }

  /** Registers a listener for when others have found this server gone, because it stood still: its hosts are lost. */
  onGone(listener: () => void): void {
    this.#onGone.push(listener);
  }

  /** Time since which there has always been a server, epoch ms. */
  async upSince(): Promise<number> {
    return (await this.#options.store.findUpSince()) ?? this.#options.clock.now();
  }

  /** IDs of the other servers of the database that are alive. */
  async listOthers(): Promise<string[]> {
    const { store } = this.#options;
    return store.hasLeases ? store.listOthers(this.id) : [];
  }

  /** Call it after the hosts' connections have ended. */
  async close(): Promise<void> {
    const { store, clock, faults } = this.#options;
    await this.#endRenewing();
    try {
      await store.end(this.id, clock.now());
    } catch (error) {
      faults.report(
        error,
        'the end of this server could not be stored: the other servers will notice it later',
      );
    }
  }

  async #renew(): Promise<void> {
    const { store, clock, onTime } = this.#options;
    const askedAt = Date.now();
    const now = await store.renew(this.id);
    if (now !== undefined) onTime?.(now, askedAt, Date.now());
    else {
      for (const listener of this.#onGone) listener();
      await store.begin(this.id, clock.now());
    }
    if (this.#canExpireOthers()) await store.endGone(this.id, clock.now());
  }

  /** False after a late renewal: no server could renew while the database was away. Each gets the time of a lease. */
  #canExpireOthers(): boolean {
    const now = performance.now();
    if (now - this.#renewedAt > lateMs) this.#judgesFrom = now + leaseMs;
    this.#renewedAt = now;
    return now >= this.#judgesFrom;
  }
}
