import { periodically } from '../../kernel/periodically.ts';
import { Batcher } from '../../kernel/batcher.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { FaultMonitor } from '../../kernel/faults/fault-monitor.ts';
import type { Attempt, DeliveryStore, StoredDelivery } from './delivery-store.ts';
import { maxAttempts, pauseAfter } from './delivery-pauses.ts';

/**
 * Result of a message. `rejected`: the receiver does not want this one, ever. `final`: it is not sent again, and that
 * says nothing of the receiver.
 */
export interface Sent {
  readonly result: 'delivered' | 'refused' | 'rejected' | 'gone' | 'ended' | 'final';
  readonly responseStatus: number | null;
  readonly problem: string;
  /** Pause that the receiver asks for, ms. */
  readonly pauseMs?: number;
}

interface Options {
  store: DeliveryStore;
  /** Sends deliveries of one webhook. Resolves with the result of each. Rejects only when this server is at fault. */
  send: (deliveries: readonly StoredDelivery[], signal: AbortSignal) => Promise<readonly Sent[]>;
  /** Time since when deliveries of the webhook have failed; null: they have not. */
  findFailingSince: (webhookId: string) => Promise<number | null>;
  clock: Clock;
  faults: FaultMonitor;
  lookEveryMs: number;
}

/**
 * Lease of a delivery, longer than an attempt takes. A server that is gone has not made the attempt that it had
 * claimed.
 */
const claimMs = 30_000;
/** Maximum number of attempts at a time on one server. A receiver that is slow takes up only its own places. */
const places = { ofWebhook: 2, ofUser: 6, ofAll: 300 };
/** Time without any success after which the webhook is paused. */
const maxFailingMs = 5 * 24 * 60 * 60_000;
/** Pause after a fault of this server. */
const faultPauseMs = 60_000;

/** Makes the deliveries that are due. Each server looks; each attempt is one server's. */
export class DeliveryWorker {
  readonly #options: Options;
  readonly #toServe: Batcher<string>;
  readonly #endLooking: () => Promise<void>;
  readonly #closing = new AbortController();
  /** Attempts under way, by webhook and by user. */
  readonly #counts = new Map<string, number>();
  readonly #underWay = new Set<Promise<void>>();

  constructor(options: Options) {
    this.#options = options;
    const { faults, store, clock, lookEveryMs } = options;
    this.#toServe = new Batcher({
      work: async (ids) => this.#serve(await store.listDue(clock.now(), ids)),
      faults,
      failureMessage: 'webhook deliveries could not be read',
    });
    this.#endLooking = periodically(faults, lookEveryMs, async () =>
      this.#serve(await store.listDue(clock.now())),
    );
  }

  /** Looks at webhooks that may have something to do. */
  look(webhookIds: readonly string[]): void {
    if (!this.#closing.signal.aborted) this.#toServe.add(webhookIds);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#endLooking();
    await this.#toServe.end();
    await Promise.all(this.#underWay);
  }

  async #serve(due: readonly { id: string; user_id: string }[]): Promise<void> {
    for (const webhook of due) while (await this.#takeNext(webhook.id, webhook.user_id));
  }

  /** False: there is nothing to take, or no place for it. */
  async #takeNext(webhookId: string, userId: string): Promise<boolean> {
    const { store, clock } = this.#options;
    if (!this.#hasPlace(webhookId, userId)) return false;
    const now = clock.now();
    const leave = this.#takePlace(webhookId, userId);
    const claimed = await store.claim(webhookId, now, now + claimMs).catch((error: unknown) => {
      leave();
      throw error;
    });
    if (claimed.length === 0) {
      leave();
      return false;
    }
    const work = this.#attempt(claimed).finally(() => {
      leave();
      this.#underWay.delete(work);
      this.look([webhookId]);
    });
    this.#underWay.add(work);
    return true;
  }

  #hasPlace(webhookId: string, userId: string): boolean {
    if (this.#closing.signal.aborted || this.#underWay.size >= places.ofAll) return false;
    const count = (id: string): number => this.#counts.get(id) ?? 0;
    return count(webhookId) < places.ofWebhook && count(userId) < places.ofUser;
  }

  #takePlace(...ids: readonly string[]): () => void {
    const add = (change: number): void => {
      for (const id of ids) {
        const count = (this.#counts.get(id) ?? 0) + change;
        if (count > 0) this.#counts.set(id, count);
        else this.#counts.delete(id);
      }
    };
    add(1);
    return () => add(-1);
  }

  async #attempt(claimed: readonly StoredDelivery[]): Promise<void> {
    const { store, send, clock, faults } = this.#options;
    let isSent = false;
    try {
      const sent = await send(claimed, this.#closing.signal);
      isSent = sent.some(({ result }) => result === 'delivered');
      for (const [at, delivery] of claimed.entries()) await this.#settle(delivery, sent[at]);
    } catch (error) {
      faults.report(error, 'a webhook delivery failed');
      for (const delivery of claimed)
        await store.settle(delivery, this.#afterFault(delivery), clock.now()).catch(() => undefined);
    } finally {
      const [first] = claimed;
      if (!isSent && first !== undefined) await this.#giveMailBack(first);
    }
  }

  async #giveMailBack(claimed: StoredDelivery): Promise<void> {
    const { store, faults } = this.#options;
    await store
      .giveMailBack(claimed)
      .catch((error: unknown) =>
        faults.report(error, 'the quota of an e-mail that was not sent could not be returned'),
      );
  }

  async #settle(delivery: StoredDelivery, sent: Sent | undefined): Promise<void> {
    const { store, clock } = this.#options;
    const isCutShort = this.#closing.signal.aborted && sent?.result !== 'delivered';
    if (sent === undefined || isCutShort) await store.release(delivery);
    else await store.settle(delivery, await this.#judge(delivery, sent), clock.now());
  }

  async #judge(claimed: StoredDelivery, sent: Sent): Promise<Attempt> {
    const { result, responseStatus, problem, pauseMs } = sent;
    const about = { responseStatus, problem, pausedFor: undefined, isHealth: true };
    if (result === 'delivered') return { ...about, status: 'delivered', dueAt: undefined };
    if (result === 'final') return { ...about, status: 'failed', dueAt: undefined, isHealth: false };
    if (result === 'gone')
      return {
        ...about,
        status: 'failed',
        dueAt: undefined,
        pausedFor: 'The receiver answered 410: it is gone',
      };
    if (result === 'ended')
      return { ...about, status: 'failed', dueAt: undefined, pausedFor: problem, isHealth: true };
    const pause = result === 'rejected' ? undefined : pauseAfter(claimed.attempts, pauseMs);
    const pausedFor = await this.#findReasonToPause(claimed, problem);
    // A delivery of a paused webhook is due when the webhook goes on.
    if (pause === undefined) return { ...about, status: 'failed', dueAt: undefined, pausedFor };
    return { ...about, status: 'waiting', dueAt: this.#options.clock.now() + pause, pausedFor };
  }

  async #findReasonToPause({ webhook_id: id }: StoredDelivery, problem: string): Promise<string | undefined> {
    const { findFailingSince, clock } = this.#options;
    const since = await findFailingSince(id);
    if (since === null || clock.now() - since < maxFailingMs) return undefined;
    return `No delivery was made in five days: ${problem}`;
  }

  #afterFault({ attempts }: StoredDelivery): Attempt {
    const isLast = attempts >= maxAttempts;
    return {
      status: isLast ? 'failed' : 'waiting',
      responseStatus: null,
      isHealth: false,
      dueAt: isLast ? undefined : this.#options.clock.now() + faultPauseMs,
      problem: 'The service itself could not send it; its operator finds more in the log',
      pausedFor: undefined,
    };
  }
}
