import { setTimeout as pause } from 'node:timers/promises';
import type { Db } from './db/database.ts';
import type { WorkKind } from './db/tables/column-types.ts';
import { type Claim, claimWork, findWork, finishWork, giveBack, postponeWork } from './db/work-queue.ts';
import { backoffMs } from '@phalanx/timing/backoff';
import { Batcher } from '../kernel/batcher.ts';
import type { Clock } from '../kernel/clock.ts';
import { minuteMs } from '@phalanx/timing/durations';
import type { FaultMonitor } from '../kernel/faults/fault-monitor.ts';

export interface WorkerContext {
  readonly database: Db;
  readonly clock: Clock;
  readonly faults: FaultMonitor;
}

export interface WorkerOptions {
  readonly kind: WorkKind;
  /** Maximum number of claims at a time on one server, of all lanes and of one. */
  readonly places: { readonly all: number; readonly lane: number };
  /** Maximum number of items of a claim. Default: 1. */
  readonly itemsOfClaim?: number;
  /** Time after which another server does work that has not ended, in ms. */
  readonly claimMs: number;
  /**
   * May be done again, or by two servers when it takes longer than the claim. `signal` says that this server stops. Work
   * that does not end its claim is done when it resolves.
   */
  work(claim: Claim, signal: AbortSignal): Promise<void>;
}

/** Interval of the look for the end of an item that another server does. */
const askEveryMs = 50;
/** No jitter: places and lanes bound how much is tried at a time. */
const retry = { firstMs: 1000, maxMs: minuteMs, jitter: 0 };
const maxProblemLength = 500;

/** Does the work of one kind that is due, as far as there are places. */
export class Worker {
  readonly #context: WorkerContext;
  readonly #options: WorkerOptions;
  readonly #looks: Batcher<WorkKind>;
  readonly #closing = new AbortController();
  readonly #underWay = new Map<Claim, Promise<void>>();

  constructor(context: WorkerContext, options: WorkerOptions) {
    this.#context = context;
    this.#options = options;
    const { faults } = context;
    this.#looks = new Batcher({
      work: () => this.#claimAll(),
      faults,
      failureMessage: `could not ${options.kind}`,
    });
  }

  /** Number of claims under way. */
  get size(): number {
    return this.#underWay.size;
  }

  get isFull(): boolean {
    return this.size >= this.#options.places.all;
  }

  /** Claims what is due. Resolves when no look is under way. */
  look(): Promise<void> {
    if (!this.#closing.signal.aborted) this.#looks.add([this.#options.kind]);
    return this.whenLooked();
  }

  /** Does what is due. Resolves when this server is at none of it any more. */
  async whenDone(): Promise<void> {
    do {
      await Promise.all(this.#underWay.values());
      // After the last one: its place may be what others have waited for.
      await this.look();
    } while (this.size > 0);
  }

  /** Resolves when the item is gone, whichever server has done it, or when an attempt has failed. */
  async whenEnded(key: string): Promise<void> {
    const { kind } = this.#options;
    while (!this.#closing.signal.aborted) {
      await this.look();
      const ofItem = [...this.#underWay].filter(([{ items }]) => items.some((item) => item.key === key));
      await Promise.all(ofItem.map(([, ended]) => ended));
      const item = await findWork(this.#context.database, kind, key);
      if (item === undefined || item.problem !== '') return;
      await pause(askEveryMs);
    }
  }

  /** Resolves when no look is under way. */
  whenLooked(): Promise<void> {
    return this.#looks.end();
  }

  /** Claims nothing any more. Resolves when all work under way has ended, or was given back. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.whenLooked();
    await Promise.all(this.#underWay.values());
  }

  async #claimAll(): Promise<void> {
    const { database, clock } = this.#context;
    const { kind, claimMs } = this.#options;
    let claims: readonly Claim[];
    do {
      if (this.isFull || this.#closing.signal.aborted) return;
      const now = clock.now();
      claims = await claimWork(database, kind, { now, until: now + claimMs, room: this.#room() });
      for (const claim of claims) this.#begin(claim);
    } while (claims.length > 0);
  }

  #room(): Parameters<typeof claimWork>[2]['room'] {
    const { places, itemsOfClaim = 1 } = this.#options;
    const lanes = Map.groupBy(this.#underWay.keys(), ({ lane }) => lane);
    const inLane = (lane: string): number => places.lane - (lanes.get(lane)?.length ?? 0);
    const fullLanes = [...lanes.keys()].filter((lane) => inLane(lane) <= 0);
    return { all: places.all - this.size, fullLanes, inLane, itemsOfClaim };
  }

  #begin(claim: Claim): void {
    const ended = this.#do(claim).finally(() => {
      this.#underWay.delete(claim);
      void this.look();
    });
    this.#underWay.set(claim, ended);
  }

  /** Never rejects. A claim whose end cannot be stored runs out, and another one follows it. */
  async #do(claim: Claim): Promise<void> {
    const { database, faults } = this.#context;
    const { signal } = this.#closing;
    try {
      if (signal.aborted) return await giveBack(database, claim);
      await this.#options.work(claim, signal);
      if (!claim.isEnded) await finishWork(database, claim);
    } catch (error) {
      if (!signal.aborted) faults.report(error, `could not ${claim.kind}`);
      if (claim.isEnded) return;
      if (signal.aborted) await this.#end(giveBack(database, claim));
      else await this.#end(postponeWork(database, claim, this.#afterFailure(claim, error)));
    }
  }

  async #end(ending: Promise<unknown>): Promise<void> {
    await ending.catch((error: unknown) => this.#context.faults.report(error, 'a claim could not be ended'));
  }

  #afterFailure({ items }: Claim, error: unknown): { dueAt: number; problem: string } {
    const attempts = Math.max(...items.map((item) => item.attempts));
    const dueAt = this.#context.clock.now() + backoffMs(retry, attempts);
    return { dueAt, problem: String(error).slice(0, maxProblemLength) };
  }
}
