import { randomBytes } from 'node:crypto';
import type { PortAnswer, PortHolds, PortOrders } from '@phalanx/automation';
import {
  maxRunResultBytes,
  type SandboxCallResult,
  type SandboxCommand,
  type StepBegin,
  type StepEnd,
  stepRate,
} from '@phalanx/protocol';

import { cpuLimit, type FailedEnd } from '../run/run-end.ts';
import { TokenBucket } from '../../time/token-bucket.ts';
import { digestOf } from './digest-of.ts';
import { createFetches } from './fetches.ts';
import type { HostChannel } from './host-channel.ts';
import type { IsolateEntry } from './isolate-entry.ts';
import { createRunLog } from './run-log.ts';
import type { SourcePositions } from './source-positions.ts';

/** Maximum size of one request in bytes, as in the Web Crypto API. */
const maxRandomBytes = 65_536;

/** Interval of checking the used CPU time, in milliseconds. */
const intervalMs = 100;

/**
 * Maximum number of concurrent calls. The host has the same limit, and the phone executes calls one at a time anyway.
 */
const maxCalls = 64;

/** Maximum number of timers: more of them indicate a leak. Beyond it, the isolate gets a RangeError. */
const maxTimers = 10_000;

type Job = Extract<SandboxCommand, { type: 'job' }>;
type End = FailedEnd | { outcome: 'completed' | 'stopped' };
type Orders = {
  [Name in keyof PortOrders]: (order: PortOrders[Name], body: string | undefined) => PortAnswer | void;
};
type Holds = { [Name in keyof PortHolds]: (...texts: PortHolds[Name]) => Promise<void> };

/** Maximum length of an order, far below the host's limit for frames. Bodies of requests are not counted. */
const maxOrderLength = 500_000;

/** Promise that blocks the isolate forever, so that its next action never happens. */
const never = new Promise<void>(() => {});

/** Environment of a run in the child. */
interface RunPlace {
  channel: HostChannel;
  isolate: IsolateEntry;
  memoryMb: number;
}

/** Single run of this process, from its job to its end. */
export class Run {
  readonly #job: Job;
  readonly #place: RunPlace;
  readonly #log: ReturnType<typeof createRunLog>;
  readonly #timers = createTimers((id) => this.#enter('timer', id));
  readonly #calls: ReturnType<typeof createCalls>;
  readonly #fetches: ReturnType<typeof createFetches>;
  readonly #steps: ReturnType<typeof createStepTeller>;
  readonly #orders: Orders;
  readonly #holds: Holds = {
    log: (...entry) => this.#log.write(...entry),
    look: (at) => this.#place.isolate.look(at),
    stop: () => {
      this.end({ outcome: 'completed' });
      return never;
    },
  };
  #stopCpuWatch = (): void => {};
  #beganAt = 0;
  #ended = false;
  #mainSettled = false;
  /** Result of the run as JSON text that was not sent to the host yet. */
  #result: string | undefined;
  /** Number of entries into the isolate that wait or run. */
  #inside = 0;

  constructor(job: Job, place: RunPlace) {
    this.#job = job;
    this.#place = place;
    this.#log = createRunLog(job, place);
    this.#calls = createCalls(place.channel, (id, result) =>
      this.#enter('result', id, JSON.stringify(result)),
    );
    this.#fetches = createFetches((id, json, body) => this.#enter('fetched', id, json, body));
    this.#steps = createStepTeller(place.channel, this.#log.placeAt);
    this.#orders = this.#createOrders();
  }

  /** Starts the user's code. */
  begin(): void {
    const { cpuMs, argumentsJson } = this.#job;
    this.#beganAt = performance.now();
    this.#stopCpuWatch = watchCpu(cpuMs, () => this.end(cpuLimit(cpuMs)));
    void this.#follow(this.#place.isolate.begin(argumentsJson));
  }

  /** Sends the last message of the run. Later messages of the isolate are not forwarded. */
  end(how: End): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#stopCpuWatch();
    this.#sendResult();
    this.#place.channel.send({ type: 'ended', error: null, ...how });
  }

  /** Handles the rejection of an entry into the isolate. */
  fail(error: unknown): void {
    if (!this.#ended) this.end(this.#log.failedEntry(error));
  }

  finishCall(id: number, result: SandboxCallResult): void {
    this.#calls.finish(id, result);
  }

  /** Answers a request of the isolate. A string is the reason for a refusal. */
  ask(name: string, json: string, body: string | undefined): PortAnswer {
    if (this.#ended || !Object.hasOwn(this.#orders, name)) return 'The run has ended.';
    if (json.length > maxOrderLength) return `Too large: at most ${maxOrderLength} characters of JSON.`;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- from the prelude; user code harms only its run
    const order = this.#orders[name as keyof Orders] as (order: unknown, body?: string) => PortAnswer;
    return order(JSON.parse(json), body);
  }

  /** Blocks the isolate until the promise settles. */
  block(name: string, texts: string[]): Promise<void> {
    if (this.#ended || !Object.hasOwn(this.#holds, name)) return never;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
    const hold = this.#holds[name as keyof PortHolds] as (...texts: string[]) => Promise<void>;
    return hold(...texts);
  }

  #createOrders(): Orders {
    return {
      timer: (order) => this.#timers.start(order),
      clearTimer: ({ id }) => this.#timers.clear(id),
      call: (order) => this.#calls.start(order),
      cancelCall: ({ id }) => this.#calls.cancel(id),
      fetch: (order, body) => this.#fetches.start(order, body),
      abortFetch: ({ id }) => this.#fetches.abort(id),
      random: ({ sizeBytes }) => randomByteString(sizeBytes),
      digest: digestOf,
      stepBegan: ({ step, at }) => this.#steps.began(step, at),
      stepEnded: (end) => this.#steps.ended(end),
      result: ({ json }) => this.#keepResult(json),
      now: () => performance.now() - this.#beganAt,
      mainSettled: () => void (this.#mainSettled = true),
      uncaught: (order) => this.end(this.#log.uncaught(order)),
    };
  }

  /** Stores the result. Code that sets it repeatedly sends the host one result per turn of the event loop. */
  #keepResult(json: string): PortAnswer {
    if (Buffer.byteLength(json) > maxRunResultBytes)
      return `The result is larger than ${maxRunResultBytes / 1024} KiB of JSON: keep its rest in a file or a log.`;
    if (this.#result === undefined) setImmediate(() => this.#sendResult());
    this.#result = json;
    return undefined;
  }

  #sendResult(): void {
    if (this.#result !== undefined) this.#place.channel.send({ type: 'result', json: this.#result });
    this.#result = undefined;
  }

  // oxlint-disable-next-line max-params -- same parameters as the called entry
  async #enter(...entry: Parameters<IsolateEntry['enter']>): Promise<void> {
    if (!this.#ended) await this.#follow(this.#place.isolate.enter(...entry));
  }

  async #follow(entry: Promise<void>): Promise<void> {
    this.#inside += 1;
    await entry.catch((error: unknown) => this.fail(error));
    this.#inside -= 1;
    // Runs after the callbacks of this promise, which remove arrived results from the pending ones.
    setImmediate(() => this.#endIfIdle());
  }

  #endIfIdle(): void {
    const pending = this.#timers.pending() + this.#calls.pending() + this.#fetches.pending() + this.#inside;
    if (this.#mainSettled && pending === 0) this.end({ outcome: 'completed' });
  }
}

/** Tracks the `agent` calls of one run. Each counts against the limit until its result is in the isolate. */
function createCalls(channel: HostChannel, settle: (id: number, result: SandboxCallResult) => Promise<void>) {
  const waiting = new Set<number>();
  let settling = 0;
  return {
    pending: () => waiting.size,
    start({ id, name, params }: { id: number; name: string; params: unknown }): string | undefined {
      if (waiting.size + settling >= maxCalls)
        return `Too many calls: at most ${maxCalls} calls of agent may wait at a time.`;
      if (waiting.has(id)) return 'A call with this number waits already.';
      waiting.add(id);
      channel.send({ type: 'call', id, name, params });
      return undefined;
    },
    /** Cancels a call. It stays pending, because the host also answers canceled calls. */
    cancel(id: number): void {
      if (waiting.has(id)) channel.send({ type: 'cancel', id });
    },
    finish(id: number, result: SandboxCallResult): void {
      if (!waiting.delete(id)) return;
      settling += 1;
      void settle(id, result).finally(() => (settling -= 1));
    },
  };
}

/** Calls `onLimit` when this process, including the isolate's thread, has used `cpuMs` of CPU time from now on. */
function watchCpu(cpuMs: number, onLimit: () => void): () => void {
  const start = process.cpuUsage();
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(start);
    if ((user + system) / 1000 > cpuMs) onLimit();
  }, intervalMs);
  return () => clearInterval(timer);
}

function randomByteString(sizeBytes: number): string {
  return randomBytes(Math.min(sizeBytes, maxRandomBytes)).toString('latin1');
}

/** Reports steps to the host, as far as the rate limit allows. */
function createStepTeller(channel: HostChannel, placeAt: SourcePositions['placeAt']) {
  const steps = new TokenBucket(stepRate.perSecond, stepRate.burst);
  let skipped = 0;
  return {
    /** Reports the begin of a step. A string refuses it; then its end must not be reported either. */
    began(step: StepBegin, at: string): string | undefined {
      if (steps.waitMs(0) > 0) {
        skipped += 1;
        return 'Too many steps.';
      }
      steps.take(1);
      channel.send({ type: 'stepBegan', step, skipped, ...placeAt(at) });
      skipped = 0;
      return undefined;
    },
    ended: (end: StepEnd): void => channel.send({ type: 'stepEnded', end }),
  };
}

/**
 * Tracks the timers of one run. `fire` passes a due timer to the isolate; it counts against the limit until it has
 * arrived there.
 */
function createTimers(fire: (id: number) => Promise<void>) {
  const timers = new Map<number, { handle: NodeJS.Timeout; keepsAlive: boolean }>();
  let pending = 0;
  let firing = 0;

  const remove = (id: number): void => {
    const timer = timers.get(id);
    if (timer === undefined) return;
    clearTimeout(timer.handle);
    timers.delete(id);
    if (timer.keepsAlive) pending -= 1;
  };

  return {
    pending: () => pending,
    start({ id, delayMs, keepsAlive }: PortOrders['timer']): string | undefined {
      if (timers.size + firing >= maxTimers)
        return `Too many timers: at most ${maxTimers} may wait at a time.`;
      if (timers.has(id)) return 'A timer with this number waits already.';
      const handle = setTimeout(() => {
        remove(id);
        firing += 1;
        void fire(id).finally(() => (firing -= 1));
      }, delayMs);
      timers.set(id, { handle, keepsAlive });
      if (keepsAlive) pending += 1;
      return undefined;
    },
    clear: remove,
  };
}
