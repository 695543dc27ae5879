import type { Claim } from '../../storage/db/work-queue.ts';
import type { Clock } from '../../kernel/clock.ts';
import { dayMs, minuteMs } from '@phalanx/timing/durations';
import type { FaultMonitor } from '../../kernel/faults/fault-monitor.ts';
import type { Attempt, AttemptStore, Batch } from './attempt-store.ts';
import type { StoredDelivery } from './delivery-store.ts';
import { maxAttempts, pauseAfter } from './delivery-pauses.ts';

/**
 * Result of a message. `rejected`: the receiver never accepts this message. `final`: the message is not sent again,
 * which says nothing about the receiver.
 */
export interface Sent {
  readonly result: 'delivered' | 'refused' | 'rejected' | 'gone' | 'ended' | 'final';
  readonly responseStatus: number | null;
  readonly problem: string;
  /** Pause that the receiver requests, ms. */
  readonly pauseMs?: number;
}

interface Options {
  store: AttemptStore;
  /** Sends deliveries of one webhook. Resolves with the result of each. Rejects only when this server is at fault. */
  send: (deliveries: readonly StoredDelivery[], signal: AbortSignal) => Promise<readonly Sent[]>;
  clock: Clock;
  faults: FaultMonitor;
}

/** Lease of a webhook, longer than an attempt takes. */
export const claimMs = 30_000;
/**
 * Maximum number of webhooks at a time on one server, in total and per user. A claim sends up to two messages, so up to
 * 300 and 6 messages are in flight.
 */
export const places = { all: 150, lane: 3 };
/** Time without any success after which the webhook is paused. */
const maxFailingMs = 5 * dayMs;
/** Pause after a fault of this server. */
const faultPauseMs = minuteMs;

/** Makes the deliveries of webhooks. */
export class DeliveryMaker {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Attempts the first due deliveries of a claimed webhook. */
  async make(claim: Claim, signal: AbortSignal): Promise<void> {
    const { store, clock } = this.#options;
    const batch = await store.begin(claim, clock.now());
    if (batch === undefined) {
      await store.rest(claim, clock.now());
      return;
    }
    const attempts = await this.#attempt(batch, signal);
    await store.end(claim, { ...batch, attempts, now: clock.now() });
  }

  /** Sends deliveries, and resolves with the result of each attempt. */
  async #attempt(batch: Batch, signal: AbortSignal): Promise<(Attempt | undefined)[]> {
    const { send, clock, faults } = this.#options;
    try {
      const sent = await send(batch.deliveries, signal);
      const now = clock.now();
      const isWorking = sent.some(({ result }) => result === 'delivered');
      const failingMs = isWorking ? 0 : now - (batch.webhook.failing_since ?? now);
      return batch.deliveries.map(({ attempts }, at) => {
        const one = sent[at];
        const isCutShort = signal.aborted && one?.result !== 'delivered';
        return one === undefined || isCutShort ? undefined : judge(one, { attempts, failingMs, now });
      });
    } catch (error) {
      faults.report(error, 'a webhook delivery failed');
      return batch.deliveries.map((delivery) => afterFault(delivery, clock.now()));
    }
  }
}

interface Judged {
  /** Number of attempts of the delivery. */
  attempts: number;
  /** Time for which the webhook has had no success, ms. */
  failingMs: number;
  now: number;
}

function judge(
  { result, responseStatus, problem, pauseMs }: Sent,
  { attempts, failingMs, now }: Judged,
): Attempt {
  const end = { dueAt: undefined, responseStatus, problem, pausedFor: undefined, isHealth: true };
  if (result === 'delivered') return { ...end, status: 'delivered' };
  if (result === 'final') return { ...end, status: 'failed', isHealth: false };
  if (result === 'gone')
    return { ...end, status: 'failed', pausedFor: 'The receiver answered 410: it is gone' };
  if (result === 'ended') return { ...end, status: 'failed', pausedFor: problem };
  const isPaused = failingMs >= maxFailingMs;
  const pausedFor = isPaused ? `No delivery was made in five days: ${problem}` : undefined;
  const pause = result === 'rejected' ? undefined : pauseAfter(attempts, pauseMs);
  // A delivery of a paused webhook is due when the webhook resumes.
  if (pause === undefined) return { ...end, status: 'failed', pausedFor };
  return { ...end, status: 'waiting', dueAt: now + pause, pausedFor };
}

function afterFault({ attempts }: StoredDelivery, now: number): Attempt {
  const isLast = attempts >= maxAttempts;
  return {
    status: isLast ? 'failed' : 'waiting',
    dueAt: isLast ? undefined : now + faultPauseMs,
    responseStatus: null,
    problem: 'The service itself could not send it; its operator finds more in the log',
    isHealth: false,
    pausedFor: undefined,
  };
}
