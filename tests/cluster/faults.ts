import { setTimeout as pause } from 'node:timers/promises';

import type { Cable } from '../support/cable.ts';
import { RepeatedWork } from '../support/repeated-work.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import type { Cluster } from './cluster.ts';

type Fault = () => Promise<void>;

/** Does to servers and engines what happens to them, one after another, until it is told to end. */
export class Faults {
  readonly counts = new Map<string, number>();
  readonly #cluster: Cluster;
  readonly #random: SeededRandom;
  readonly #faults: readonly [name: string, fault: Fault][];
  readonly #work = new RepeatedWork();

  constructor(cluster: Cluster, random: SeededRandom) {
    this.#cluster = cluster;
    this.#random = random;
    this.#faults = [
      ['kill a server', () => this.#killServer()],
      ['kill a server', () => this.#killServer()],
      ['freeze a server', () => this.#freezeServer()],
      ['crash PostgreSQL', async () => cluster.postgres.crash()],
      ['kill NATS', () => this.#killNats()],
      ['cut S3', () => this.#cutS3()],
      ['cut connections of a server', async () => this.#pickCable().cut()],
      ['silence connections of a server', () => this.#silence()],
      ['slow connections of a server', () => this.#slowDown()],
    ];
    this.#work.begin(1, () => this.#doOne());
  }

  /** Resolves when everything is as it should be again. */
  end(): Promise<void> {
    return this.#work.end();
  }

  async #doOne(): Promise<void> {
    const [name, fault] = this.#random.pick(this.#faults);
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    await fault();
    await pause(1000 + this.#random.below(3000));
  }

  async #killServer(): Promise<void> {
    const server = this.#random.pick(this.#cluster.servers);
    await this.#cluster.kill(server);
    await pause(this.#random.below(3000));
    await this.#cluster.restart(server);
  }

  /** Sometimes for longer than its lease. */
  async #freezeServer(): Promise<void> {
    const server = this.#random.pick(this.#cluster.servers);
    this.#cluster.freeze(server);
    await pause(1000 + this.#random.below(8000));
    this.#cluster.thaw(server);
  }

  async #killNats(): Promise<void> {
    await this.#cluster.nats.kill();
    await pause(this.#random.below(3000));
    await this.#cluster.nats.start();
  }

  #pickCable(): Cable {
    return this.#random.pick(this.#random.pick(this.#cluster.servers).cables);
  }

  /** As a network that drops what is sent: nobody is told. */
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

  /** Sometimes for a minute. */
  async #cutS3(): Promise<void> {
    this.#cluster.s3.pull();
    await pause(this.#random.below(this.#random.below(10) === 0 ? 60_000 : 5000));
    this.#cluster.s3.plug();
  }
}
