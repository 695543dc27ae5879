import { randomUUID } from 'node:crypto';

import type { Logger } from 'pino';

import { type Bus, InProcessNetwork } from '../bus/bus.ts';
import { NatsBus } from '../bus/nats-bus.ts';
import type { ServerConfig } from '../../config.ts';
import type { Db } from '../db/database.ts';
import { readInstallation } from '../db/installation.ts';
import type { FaultMonitor } from '../../kernel/faults/fault-monitor.ts';
import {
  createCacheInvalidationStore,
  type NodeStore,
  type CacheInvalidation,
  type CacheInvalidationStore,
  keptMs,
} from './store.ts';
import type { Clock } from '../../kernel/clock.ts';
import { periodically } from '../../kernel/periodically.ts';
import { leaseMs } from '../db/lease.ts';
import { type CachedThing, cachedThings } from '../db/tables/column-types.ts';

interface Ground {
  database: Db;
  node: ServerNode;
  faults: FaultMonitor;
  log: Logger;
}

/** The other servers of the database, as this one reaches them. A single server is a cluster of one. */
export interface Cluster {
  readonly bus: Bus;
  readonly peers: Peers;
  readonly invalidations: CacheInvalidations;
  close(): Promise<void>;
}

export async function openCluster(ground: Ground, config: ServerConfig): Promise<Cluster> {
  const { database, node, faults } = ground;
  const bus = await openBus(ground, config);
  const peers = new Peers({ bus, nodeId: node.id, listOthers: () => node.listOthers() });
  const store = createCacheInvalidationStore(database);
  const invalidations = new CacheInvalidations({ store, peers, faults });
  const close = async (): Promise<void> => {
    await invalidations.close();
    await bus.close();
  };
  return { bus, peers, invalidations, close };
}

async function openBus({ database, log }: Ground, { natsUrls, nodeName }: ServerConfig): Promise<Bus> {
  if (natsUrls === undefined) return new InProcessNetwork().join();
  const prefix = `phalanx.${await readInstallation(database)}`;
  return new NatsBus({ urls: natsUrls, name: nodeName, log, prefix });
}

interface Options {
  /** Of the operator's; empty when there is none. */
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
/** A renewal that comes so late had something in its way, which others had perhaps too. */
const lateMs = 2500;

/** This server, as one that others know to be alive. */
export class ServerNode {
  /** Another one at each start. */
  readonly id = randomUUID();
  readonly name: string;
  readonly #options: Options;
  readonly #onGone: (() => void)[] = [];
  #renewedAt = performance.now();
  /** Before, a lease that is over says nothing about its server; by `performance.now()`. */
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

  /** Registers who is told when others have found this server gone, because it stood still: its hosts are not its own any more. */
  onGone(listener: () => void): void {
    this.#onGone.push(listener);
  }

  /** Since when there has always been a server, epoch ms. */
  async upSince(): Promise<number> {
    return (await this.#options.store.findUpSince()) ?? this.#options.clock.now();
  }

  /** IDs of the other servers of the database that are alive. */
  listOthers(): Promise<string[]> {
    return this.#options.store.listOthers(this.id);
  }

  /** After the hosts' connections have ended. */
  async close(): Promise<void> {
    const { store, clock, faults } = this.#options;
    await this.#endRenewing();
    try {
      await store.end(this.id, clock.now());
    } catch (error) {
      faults.report(error, 'the end of this server could not be stored: the next one finds it gone');
    }
  }

  async #renew(): Promise<void> {
    const { store, clock, onTime } = this.#options;
    const askedAt = Date.now();
    const now = await store.renew(this.id);
    if (now !== undefined) onTime?.(now, askedAt, Date.now());
    else {
      for (const tell of this.#onGone) tell();
      await store.begin(this.id, clock.now());
    }
    if (this.#mayJudge()) await store.endGone(this.id, clock.now());
  }

  /** Where the database was away, no server could renew its lease: each has the time of a lease to do it. */
  #mayJudge(): boolean {
    const now = performance.now();
    if (now - this.#renewedAt > lateMs) this.#judgesFrom = now + leaseMs;
    this.#renewedAt = now;
    return now >= this.#judgesFrom;
  }
}

interface InvalidationOptions {
  store: CacheInvalidationStore;
  peers: Peers;
  faults: FaultMonitor;
}

type Reload = () => Promise<void> | void;

const readEveryMs = 500;
/** What was cached longer ago decides about nothing. */
const freshMs = 1000;
const deleteEveryMs = 10_000;
const readTopic = 'read-invalidations';

/**
 * Reloads what this server caches and another one has changed: within a second, and at once when that other one asks
 * for it. A server that stood still reads before it does anything. Rows are not numbered in the order in which they
 * become visible, so all of the last minute are read, and those that are new count.
 */
export class CacheInvalidations {
  readonly #options: InvalidationOptions;
  readonly #reloads: [CachedThing, Reload][] = [];
  readonly #ends: (() => unknown)[];
  #known = new Set<number>();
  #readAt = performance.now();
  #reading: Promise<void> = Promise.resolve();
  #catchingUp: Promise<void> | undefined;

  constructor(options: InvalidationOptions) {
    this.#options = options;
    const { store, peers, faults } = options;
    this.#ends = [
      peers.answer(readTopic, () => this.read()),
      periodically(faults, readEveryMs, () => this.read()),
      periodically(faults, deleteEveryMs, () => store.deleteOld()),
    ];
  }

  /** How long ago this server has last read them. */
  get ageMs(): number {
    return performance.now() - this.#readAt;
  }

  on(thing: CachedThing, reload: Reload): void {
    this.#reloads.push([thing, reload]);
  }

  /** Resolves when everything is known that was stored before. */
  read(): Promise<void> {
    const read = (): Promise<void> => this.#read();
    this.#reading = this.#reading.then(read, read);
    return this.#reading;
  }

  /** Undefined: what is cached is not older than a second. Rejects when the database does not answer. */
  catchUp(): Promise<void> | undefined {
    if (this.ageMs <= freshMs) return undefined;
    this.#catchingUp ??= this.read().finally(() => (this.#catchingUp = undefined));
    return this.#catchingUp;
  }

  /** Resolves when the other servers that are there have read them. */
  tellPeers(): Promise<void> {
    return this.#options.peers.broadcast(readTopic);
  }

  async close(): Promise<void> {
    for (const end of this.#ends) await end();
    await this.#reading.catch(() => undefined);
  }

  async #read(): Promise<void> {
    const askedAt = performance.now();
    const rows = await this.#options.store.list();
    const changed = this.#select(rows);
    for (const [thing, reload] of this.#reloads) if (changed.has(thing)) await reload();
    // Not before: what failed is done again.
    this.#known = new Set(rows.map(({ id }) => id));
    this.#readAt = askedAt;
  }

  #select(rows: readonly CacheInvalidation[]): ReadonlySet<CachedThing> {
    // Some may have been deleted unread.
    if (performance.now() - this.#readAt > keptMs / 2) return new Set(cachedThings);
    return new Set(rows.filter(({ id }) => !this.#known.has(id)).map(({ name }) => name));
  }
}

interface PeersOptions {
  bus: Bus;
  /** This server's. */
  nodeId: string;
  /** IDs of the other servers that are alive. */
  listOthers: () => Promise<string[]>;
}

/** Longer nobody waits for a server that does not answer. */
const timeoutMs = 500;

const subjectOf = (nodeId: string, topic: string): string => `node.${nodeId}.${topic}`;

/** The other servers of the database. */
export class Peers {
  readonly #options: PeersOptions;

  constructor(options: PeersOptions) {
    this.#options = options;
  }

  /** Does something for another server, which waits until it is done. Returns the function that ends it. */
  answer(topic: string, work: (text: string) => Promise<void> | void): () => void {
    const { bus, nodeId } = this.#options;
    return bus.answer(subjectOf(nodeId, topic), async (text) => {
      await work(text);
      return Buffer.alloc(0);
    });
  }

  /** Resolves when all have done it that are there, or after half a second. */
  async broadcast(topic: string, text = ''): Promise<void> {
    const { bus, listOthers } = this.#options;
    const { promise: isLate, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, timeoutMs);
    const peers = await listOthers();
    await Promise.race([Promise.allSettled(peers.map((id) => bus.ask(subjectOf(id, topic), text))), isLate]);
    clearTimeout(timer);
  }
}
