import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fastify, type FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import { pino } from 'pino';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { TestLog } from '../testing/test-log.ts';
import { systemClock } from '../kernel/clock.ts';
import { InProcessNetwork } from './bus/in-process-network.ts';
import { engines, openTestDatabase } from '../testing/engines/test-database.ts';
import { FaultMonitor } from '../kernel/faults/fault-monitor.ts';
import type { Db } from './db/database.ts';
import { transact } from './db/transactions.ts';
import {
  type Claim,
  endWork,
  enqueue,
  finishWork,
  listEnqueued,
  makeDue,
  notDue,
  renewClaim,
} from './db/work-queue.ts';
import { forEachItem } from './for-each-item.ts';
import { Worker, type WorkerOptions } from './worker.ts';
import { Workers } from './workers.ts';

const kind = 'delete captures';
const claimMs = 30_000;
const places = { all: 5, lane: 2 };
const itemsOfClaim = 3;
/** Longer than the pause after any number of failures. */
const longMs = 120_000;
const [lanes, keys, steps] = [4, 40, 150];

/** Whole numbers from 0 on, the same for the same seed (mulberry32). */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** A claim as the test sees it: the server is at it until it ends it, or is killed. */
interface Holding {
  readonly server: Server;
  readonly claim: Claim;
  readonly begun: number;
  readonly end: PromiseWithResolvers<void>;
  /** Keys that another server has claimed since. */
  readonly lost: Set<string>;
  isEnded: boolean;
}

interface Server {
  readonly worker: Worker;
  readonly holdings: Set<Holding>;
}

/** State of a key as it has to be. */
interface Expected {
  /** Number of the step that enqueued it last. */
  enqueued: number;
  isDone: boolean;
  attempts: number;
}

/** Servers of one database that work, fail, stop and die in the order of a seed, at a time that the test moves. */
class Model {
  now = 1_000_000;
  step = 0;
  readonly expected = new Map<string, Expected>();
  readonly servers = new Set<Server>();
  readonly killed = new Set<Holding>();
  /** Rules that a worker has broken. */
  readonly violations: unknown[] = [];
  readonly #db: Db;
  readonly #random: (below: number) => number;
  readonly #faults = new FaultMonitor({ log: pino({ level: 'silent' }) });

  constructor(db: Db, seed: number) {
    this.#db = db;
    this.#random = createRandom(seed);
    for (let count = 0; count < 3; count += 1) this.start();
  }

  get holdings(): Holding[] {
    return [...this.servers].flatMap(({ holdings }) => [...holdings]);
  }

  start(): void {
    const holdings = new Set<Holding>();
    const work: WorkerOptions['work'] = (claim, signal) => {
      const end = Promise.withResolvers<void>();
      const holding: Holding = { server, claim, begun: this.step, end, lost: new Set(), isEnded: false };
      try {
        this.#begin(holding);
      } catch (error) {
        this.violations.push(error);
      }
      signal.addEventListener('abort', () => this.#giveBack(holding));
      return holding.end.promise;
    };
    const context = { database: this.#db, clock: { now: () => this.now }, faults: this.#faults };
    const server: Server = {
      worker: new Worker(context, { kind, places, itemsOfClaim, claimMs, work }),
      holdings,
    };
    this.servers.add(server);
  }

  #begin(holding: Holding): void {
    const { server, claim } = holding;
    server.holdings.add(holding);
    for (const { key, attempts } of claim.items) {
      const others = [...this.holdings, ...this.killed].filter(
        (other) => other !== holding && other.claim.items.some((item) => item.key === key),
      );
      for (const other of others) other.lost.add(key);
      const atOnce = others.filter((other) => other.claim.until > this.now);
      expect(atOnce.length, `others that do ${key} at this time`).toBe(0);
      const expected = this.#get(key);
      expected.attempts += 1;
      expect(attempts, `attempts of ${key}`).toBe(expected.attempts);
    }
    const ofLane = [...server.holdings].filter((other) => other.claim.lane === claim.lane);
    expect(ofLane.length).toBeLessThanOrEqual(places.lane);
    expect(server.holdings.size).toBeLessThanOrEqual(places.all);
    expect(claim.items.length).toBeLessThanOrEqual(itemsOfClaim);
    expect(new Set(claim.items.map(({ lane }) => lane))).toEqual(new Set([claim.lane]));
  }

  #get(key: string): Expected {
    const expected = this.expected.get(key);
    if (expected === undefined) throw new Error(`nobody has enqueued ${key}`);
    return expected;
  }

  async finish(holding: Holding): Promise<void> {
    for (const item of holding.claim.items) {
      const expected = this.#get(item.key);
      // An item that was enqueued after the claim is done once more.
      if (expected.enqueued < holding.begun && !holding.lost.has(item.key)) expected.isDone = true;
    }
    this.#close(holding);
    holding.end.resolve();
    await this.settled();
  }

  async fail(holding: Holding): Promise<void> {
    this.#close(holding);
    holding.end.reject(new Error('failed'));
    await this.settled();
  }

  async renew(holding: Holding): Promise<void> {
    const mayBeOurs = holding.claim.items.every(({ key }) => !holding.lost.has(key));
    const isInTime = holding.claim.until > this.now;
    const isRenewed = await renewClaim(this.#db, holding.claim, this.now + claimMs + 1);
    if (isInTime) expect(isRenewed, 'a claim in its time can be renewed').toBe(true);
    if (isRenewed) expect(mayBeOurs, 'a lost claim is never renewed').toBe(true);
    else await this.fail(holding);
  }

  #giveBack(holding: Holding): void {
    if (holding.isEnded) return;
    for (const item of holding.claim.items) {
      const expected = this.#get(item.key);
      if (expected.enqueued < holding.begun && !holding.lost.has(item.key)) expected.attempts -= 1;
    }
    this.#close(holding);
    holding.end.reject(new Error('the server stops'));
  }

  #close(holding: Holding): void {
    holding.isEnded = true;
    holding.server.holdings.delete(holding);
  }

  async stop(server: Server): Promise<void> {
    this.servers.delete(server);
    await server.worker.close();
  }

  /** Ends a server as `kill -9` does: nothing is given back, and its claims run out. */
  kill(server: Server): void {
    this.servers.delete(server);
    for (const holding of server.holdings) this.killed.add(holding);
  }

  async look(servers: readonly Server[]): Promise<void> {
    await Promise.all(servers.map(({ worker }) => worker.look()));
    await this.settled();
  }

  /** Resolves when all that the test has ended is stored. */
  async settled(): Promise<void> {
    const isSettled = (): boolean =>
      [...this.servers].every(({ worker, holdings }) => worker.size === holdings.size);
    do {
      await nextTurn();
      await Promise.all([...this.servers].map(({ worker }) => worker.whenLooked()));
    } while (!isSettled());
  }

  async enqueue(): Promise<void> {
    const chosen = new Set(Array.from({ length: 1 + this.#random(4) }, () => this.#random(keys)));
    const items = [...chosen].map((number) => ({
      key: `key ${number}`,
      lane: `lane ${number % lanes}`,
      dueAt: this.now + (this.#random(3) === 0 ? this.#random(longMs) : 0),
    }));
    await transact(this.#db, (transaction) => enqueue(transaction, kind, items));
    for (const { key } of items) this.expected.set(key, { enqueued: this.step, isDone: false, attempts: 0 });
  }

  async play(): Promise<void> {
    for (this.step = 1; this.step <= steps; this.step += 1) {
      await this.#playStep();
      expect(this.violations, `after step ${this.step}`).toEqual([]);
    }
    for (let rounds = 0; (await this.count()) > 0; rounds += 1) {
      expect(rounds, 'all is done some time').toBeLessThan(100);
      this.step += 1;
      this.now += longMs;
      await this.look([...this.servers]);
      this.step += 1;
      for (const holding of this.holdings) if (!holding.isEnded) await this.finish(holding);
    }
    expect(this.violations).toEqual([]);
    for (const [key, { isDone }] of this.expected) expect(isDone, `${key} is done`).toBe(true);
  }

  async #playStep(): Promise<void> {
    const server = [...this.servers][this.#random(this.servers.size)];
    const holding = this.holdings[this.#random(this.holdings.length)];
    const dice = this.#random(100);
    if (dice < 25) await this.enqueue();
    else if (dice < 50) await this.look([...this.servers].filter(() => this.#random(2) === 0));
    else if (dice < 60) this.now += this.#random(claimMs);
    else if (dice < 95 && holding !== undefined) await this.#play(holding, dice);
    else if (dice >= 95 && server !== undefined) {
      if (dice < 98) this.kill(server);
      else await this.stop(server);
      this.start();
    }
  }

  async #play(holding: Holding, dice: number): Promise<void> {
    if (dice < 75) await this.finish(holding);
    else if (dice < 85) await this.fail(holding);
    else await this.renew(holding);
  }

  async count(): Promise<number> {
    const rows = await this.#db.selectFrom('work').select('key').execute();
    return rows.length;
  }
}

const enqueueAll = (db: Db, all: readonly string[]): Promise<void> =>
  transact(db, (transaction) =>
    enqueue(
      transaction,
      kind,
      all.map((key) => ({ key })),
    ),
  );

const seeds = Number(process.env['WORK_SEEDS'] ?? 5);
const firstSeed = Number(process.env['WORK_SEED'] ?? 1);

describe.each(engines)('work in %s', (engine) => {
  let db: Db;
  beforeEach(async () => {
    db = await openTestDatabase(engine);
  });

  it.each(Array.from({ length: seeds }, (_, number) => firstSeed + number))(
    'is done by one server at a time until it is done, whatever dies, in the order of seed %i',
    async (seed) => {
      const model = new Model(db, seed);
      await model.play();
      expect(await model.count()).toBe(0);
    },
  );

  it('that fails is done again after a pause that grows, and says why; the rest goes on', async () => {
    const clock = { time: 0, now: () => clock.time };
    const log = new TestLog();
    const attempts: [string, number][] = [];
    const worker = new Worker(
      { database: db, clock, faults: new FaultMonitor({ log: log.logger }) },
      {
        kind,
        places,
        claimMs,
        work: async ({ items }) => {
          for (const { key } of items) attempts.push([key, clock.time]);
          if (items.some(({ key }) => key === 'bad')) throw new Error('refused');
        },
      },
    );
    await enqueueAll(db, ['bad', 'good']);
    for (clock.time = 0; clock.time < 10_000; clock.time += 500) {
      await worker.look();
      await expect.poll(() => worker.size).toBe(0);
    }
    await worker.close();
    expect(attempts.filter(([key]) => key === 'bad').map(([, at]) => at)).toEqual([0, 1000, 3000, 7000]);
    expect(attempts.filter(([key]) => key === 'good')).toHaveLength(1);
    expect(log.errors).toEqual(Array.from({ length: 4 }, () => 'could not delete captures'));
    const [left] = await db.selectFrom('work').selectAll().execute();
    expect(left).toMatchObject({ key: 'bad', attempts: 4, problem: 'Error: refused', claimed_until: 0 });
  });

  it('that fails among others is done alone from then on, and the others are done without it', async () => {
    const clock = { time: 0, now: () => clock.time };
    const faults = new FaultMonitor({ log: pino({ level: 'silent' }) });
    const claims: string[][] = [];
    const work = async ({ items }: Claim): Promise<void> => {
      claims.push(items.map(({ key }) => key));
      if (items.some(({ key }) => key === 'bad')) throw new Error('refused');
    };
    const options = { kind, places: { all: 1, lane: 1 }, itemsOfClaim, claimMs, work } as const;
    const worker = new Worker({ database: db, clock, faults }, options);
    await enqueueAll(db, ['bad', 'good', 'better']);
    await worker.whenDone();
    clock.time = 1000;
    await enqueueAll(db, ['later']);
    await worker.whenDone();
    await worker.close();
    expect(claims[0]?.toSorted()).toEqual(['bad', 'better', 'good']);
    expect(
      claims
        .slice(1)
        .map((claimed) => claimed.join(' '))
        .toSorted(),
    ).toEqual(['bad', 'better', 'good', 'later']);
    expect(await listEnqueued(db, kind)).toEqual(['bad']);
  });

  it('that ends its claim itself ends no other claim, not even one of the same time', async () => {
    const faults = new FaultMonitor({ log: pino({ level: 'silent' }) });
    const context = { database: db, clock: { now: () => 0 }, faults };
    const ends = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let begun = 0;
    const work = async (claim: Claim): Promise<void> => {
      begun += 1;
      // The first one leaves the item to the second one, and goes on.
      if (begun === 1) await endWork(db, claim, async () => 0);
      await ends[begun - 1]?.promise;
    };
    const worker = new Worker(context, { kind, places, claimMs, work });
    await enqueueAll(db, ['a']);
    await worker.look();
    await expect
      .poll(async () => {
        await worker.look();
        return begun;
      })
      .toBe(2);
    ends[0]?.resolve();
    await expect.poll(() => worker.size).toBe(1);
    expect(await listEnqueued(db, kind)).toEqual(['a']);
    ends[1]?.resolve();
    await worker.whenDone();
    expect(await listEnqueued(db, kind)).toEqual([]);
    await worker.close();
  });

  it('whose end cannot be stored is done again when its claim has run out', async () => {
    const clock = { time: 0, now: () => clock.time };
    const faults = new FaultMonitor({ log: pino({ level: 'silent' }) });
    let done = 0;
    const work = async (): Promise<void> => {
      done += 1;
      if (done === 1) await sql`ALTER TABLE work RENAME TO lost`.execute(db);
    };
    const worker = new Worker({ database: db, clock, faults }, { kind, places, claimMs, work });
    await enqueueAll(db, ['a']);
    await worker.look();
    await expect.poll(() => worker.size).toBe(0);
    await sql`ALTER TABLE lost RENAME TO work`.execute(db);
    for (clock.time = 1; clock.time <= claimMs; clock.time += claimMs - 1) {
      expect(done).toBe(1);
      await worker.look();
    }
    await expect.poll(() => worker.size).toBe(0);
    expect([done, await db.selectFrom('work').selectAll().execute()]).toEqual([2, []]);
    await worker.close();
  });

  it('is waited for by its key until it is done, whichever server does it, or has failed', async () => {
    const faults = new FaultMonitor({ log: pino({ level: 'silent' }) });
    const context = { database: db, clock: systemClock, faults };
    const held = Promise.withResolvers<void>();
    const busy = new Worker(context, { kind, places, claimMs, work: () => held.promise });
    const failing = async (): Promise<void> => {
      throw new Error('refused');
    };
    const other = new Worker(context, { kind, places, claimMs, work: failing });
    await enqueueAll(db, ['a']);
    await busy.look();
    let isOver = false;
    const end = other.whenEnded('a').then(() => (isOver = true));
    await other.whenLooked();
    expect(isOver).toBe(false);
    held.resolve();
    await end;
    expect(await db.selectFrom('work').selectAll().execute()).toEqual([]);
    await enqueueAll(db, ['b']);
    await other.whenEnded('b');
    expect(await db.selectFrom('work').select('problem').execute()).toEqual([{ problem: 'Error: refused' }]);
    await Promise.all([busy.close(), other.close()]);
  });

  it('that waits for something else than a time is claimed when that has come', async () => {
    const clock = { now: () => 1000 };
    const faults = new FaultMonitor({ log: pino({ level: 'silent' }) });
    const done: string[] = [];
    const work = async ({ items }: Claim): Promise<void> => void done.push(...items.map(({ key }) => key));
    const worker = new Worker({ database: db, clock, faults }, { kind, places, claimMs, work });
    await transact(db, (transaction) => enqueue(transaction, kind, [{ key: 'a', dueAt: notDue }]));
    await worker.whenDone();
    expect(done).toEqual([]);
    for (const key of ['a', 'gone'])
      await transact(db, (transaction) => makeDue(transaction, kind, { key, dueAt: 7 }));
    await worker.whenDone();
    expect([done, await db.selectFrom('work').selectAll().execute()]).toEqual([['a'], []]);
    await worker.close();
  });

  it('of several items a claim ends one by one: what fails is put off, and what was not begun is given back', async () => {
    const clock = { now: () => 1000 };
    const faults = new FaultMonitor({ log: pino({ level: 'silent' }) });
    const done: string[] = [];
    const worker: Worker = new Worker(
      { database: db, clock, faults },
      {
        kind,
        places: { all: 1, lane: 1 },
        itemsOfClaim: 10,
        claimMs,
        work: (claim, signal) =>
          forEachItem(claim, signal, async ({ key }, own) => {
            done.push(key);
            if (key === 'bad') throw new Error('refused');
            if (key === 'last') void worker.close();
            await finishWork(db, own);
          }),
      },
    );
    await enqueueAll(db, ['c', 'bad', 'a']);
    await worker.whenDone();
    expect(done).toEqual(['a', 'bad', 'c']);
    const [left] = await db.selectFrom('work').selectAll().execute();
    expect(left).toMatchObject({ key: 'bad', due_at: 2000, attempts: 1, problem: 'Error: refused' });
    await enqueueAll(db, ['last', 'not begun']);
    await worker.whenDone();
    const rows = await db
      .selectFrom('work')
      .select(['key', 'claimed_until', 'attempts'])
      .orderBy('key')
      .execute();
    expect(rows).toEqual([
      { key: 'bad', claimed_until: 0, attempts: 1 },
      { key: 'not begun', claimed_until: 0, attempts: 0 },
    ]);
  });

  it('is begun when it is stored, by another server when this one has no place, and else by the clock', async () => {
    vi.useFakeTimers({ toFake: ['setInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const network = new InProcessNetwork();
    const done: [string[], string[]] = [[], []];
    const addServer = async (database: Db, work: WorkerOptions['work']): Promise<FastifyInstance> => {
      const app = fastify();
      const faults = new FaultMonitor({ log: pino({ level: 'silent' }) });
      const context = { app, cluster: { bus: network.join() }, database, faults, clock: systemClock };
      new Workers(context).add({ kind, places: { all: 1, lane: 1 }, claimMs, work });
      await app.ready();
      return app;
    };
    const request = new AsyncLocalStorage<string>();
    const busy = await addServer(db, async ({ items }, signal) => {
      // A note of the request that enqueues is not for the changes of work.
      expect(request.getStore()).toBeUndefined();
      done[0].push(...items.map(({ key }) => key));
      await once(signal, 'abort');
      throw new Error('stopped');
    });
    const undone = transact(db, async (transaction) => {
      await enqueue(transaction, kind, [{ key: 'undone' }]);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    await request.run('request', () => enqueueAll(db, ['a']));
    await expect.poll(() => done).toEqual([['a'], []]);
    // A trigger tells nobody; a start looks for it.
    const trigger = async (key: string) =>
      sql`INSERT INTO work (kind, key, due_at) VALUES (${kind}, ${key}, 0)`.execute(db);
    await trigger('b');
    // Hears of no transactions of the other one.
    const idle = await addServer(db.withoutPlugins(), async ({ items }) => {
      done[1].push(...items.map(({ key }) => key));
    });
    await expect.poll(() => done).toEqual([['a'], ['b']]);
    await enqueueAll(db, ['c']);
    await expect.poll(() => done).toEqual([['a'], ['b', 'c']]);
    await trigger('d');
    vi.advanceTimersByTime(1000);
    await expect.poll(() => done).toEqual([['a'], ['b', 'c', 'd']]);
    // A look begins what is due before the next one at its time.
    await transact(db, (transaction) =>
      enqueue(transaction, kind, [{ key: 'e', dueAt: systemClock.now() + 200 }]),
    );
    vi.advanceTimersByTime(1000);
    await expect.poll(() => done).toEqual([['a'], ['b', 'c', 'd', 'e']]);
    await idle.close();
    await busy.close();
    const left = await db.selectFrom('work').select(['key', 'claimed_until', 'attempts']).execute();
    expect(left).toEqual([{ key: 'a', claimed_until: 0, attempts: 0 }]);
  });
});
