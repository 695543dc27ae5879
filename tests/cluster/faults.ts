import { setTimeout as pause } from 'node:timers/promises';

import type { Cable } from '../support/cable.ts';
import { RepeatedWork } from '../support/repeated-work.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import type { Cluster, ClusterServer } from './cluster.ts';

type NamedFault = readonly [name: string, fault: () => Promise<void>];

/**
 * Injects faults into servers and engines, two at a time, until it is ended. Every kind occurs before one is
 * repeated.
 */
export class Faults {
  /** Faults with their times, in seconds since the beginning. */
  readonly history: string[] = [];
  readonly #startedAt = performance.now();
  readonly #cluster: Cluster;
  readonly #random: SeededRandom;
  readonly #faults: readonly NamedFault[];
  /** Kinds that have not occurred in this round. */
  #left: NamedFault[] = [];
  readonly #work = new RepeatedWork();
  readonly #underWay = new Set<string>();
  readonly #down = new Set<ClusterServer>();

  /**
   * Creates the faults. `seed` starts a separate random sequence; otherwise the faults of a seed would depend on the
   * number of callers in between.
   */
  constructor(cluster: Cluster, seed: number) {
    const random = new SeededRandom(seed);
    this.#cluster = cluster;
    this.#random = random;
    this.#faults = [
      ['kill a server', () => this.#killServer()],
      ['kill a server', () => this.#killServer()],
      ['freeze a server', () => this.#freezeServer(1000 + random.below(8000))],
      ['freeze a server for 12 s', () => this.#freezeServer(12_000)],
      ['freeze PostgreSQL', () => this.#freezePostgres()],
      ['crash PostgreSQL', async () => cluster.postgres.crash()],
      ['kill NATS', () => this.#killNats()],
      ['cut S3', () => this.#cutS3()],
      ['cut connections of a server', async () => this.#pickCable().cut()],
      ['silence connections of a server', () => this.#silence()],
      ['slow connections of a server', () => this.#slowDown()],
    ];
    this.#work.begin(2, () => this.#doOne());
  }

  /** Returns the kinds that have not occurred yet. */
  get missing(): string[] {
    const begun = new Set(this.history.map((entry) => entry.replace(/^\S+ /, '')));
    return this.#faults.map(([name]) => name).filter((name) => !begun.has(name));
  }

  /** Resolves when all faults are repaired. */
  end(): Promise<void> {
    return this.#work.end();
  }

  async #doOne(): Promise<void> {
    const [name, fault] = this.#next();
    // Runs at most one fault of each kind at a time.
    if (!this.#underWay.has(name)) {
      this.history.push(`${((performance.now() - this.#startedAt) / 1000).toFixed(1)} ${name}`);
      this.#underWay.add(name);
      await fault();
      this.#underWay.delete(name);
    }
    await pause(1000 + this.#random.below(3000));
  }

  #next(): NamedFault {
    if (this.#left.length === 0) this.#left = [...this.#faults];
    const next = this.#random.pick(this.#left);
    this.#left.splice(this.#left.indexOf(next), 1);
    return next;
  }

  async #killServer(): Promise<void> {
    await this.#withServer(async (server) => {
      await this.#cluster.kill(server);
      await pause(this.#random.below(3000));
      await this.#cluster.restart(server);
    });
  }

  /** Freezes a server, sometimes for longer than its lease. */
  async #freezeServer(forMs: number): Promise<void> {
    await this.#withServer(async (server) => {
      this.#cluster.freeze(server);
      await pause(forMs);
      this.#cluster.thaw(server);
    });
  }

  /** Freezes PostgreSQL: all connections to it stay open, and it never replies. */
  async #freezePostgres(): Promise<void> {
    const cables = this.#cluster.servers.flatMap(({ cables: [toDatabase] }) => toDatabase ?? []);
    for (const cable of cables) cable.silence();
    await pause(1000 + this.#random.below(8000));
    for (const cable of cables) cable.carryOn();
  }

  /** Applies a fault to a server that is neither killed nor frozen. */
  async #withServer(fault: (server: ClusterServer) => Promise<void>): Promise<void> {
    const server = this.#random.pick(this.#cluster.servers.filter((one) => !this.#down.has(one)));
    this.#down.add(server);
    await fault(server);
    this.#down.delete(server);
  }

  async #killNats(): Promise<void> {
    await this.#cluster.nats.kill();
    await pause(this.#random.below(3000));
    await this.#cluster.nats.start();
  }

  #pickCable(): Cable {
    return this.#random.pick(this.#random.pick(this.#cluster.servers).cables);
  }

  /** Drops all data on a cable like a faulty network: neither end notices. */
  async #silence(): Promise<void> {
    const cable = this.#pickCable();
    cable.silence();
    await pause(1000 + this.#random.below(8000));
    cable.carryOn();
  }

  async #slowDown(): Promise<void> {
    const server = this.#random.pick(this.#cluster.servers);
    server.delayMs = 20 + this.#random.below(100);
    await pause(1000 + this.#random.below(8000));
    server.delayMs = 0;
  }

  /** Cuts the connection to S3, sometimes for a minute. */
  async #cutS3(): Promise<void> {
    this.#cluster.s3.pull();
    await pause(this.#random.below(this.#random.below(10) === 0 ? 60_000 : 5000));
    this.#cluster.s3.plug();
  }
}
