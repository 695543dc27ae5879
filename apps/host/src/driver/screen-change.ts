import type { AgentCallParams, AgentCallResult } from '@phalanx/protocol';
import type { HostTimings } from '../time/host-timings.ts';
import { pause } from '../time/time-limit.ts';
import type { PhoneQueue } from './call-queue.ts';
import type { ChangeNotifier, ScreenSnapshot, UiBackend } from './ui-backend.ts';

type ChangeTimings = Pick<HostTimings, 'firstLookMs' | 'maxLookMs' | 'ownLookMs' | 'changeRestMs'>;

const maxReadings = 8;

interface Reading {
  readonly snapshot: ScreenSnapshot;
  /** Number of changes that had been reported before the reading. */
  readonly changes: number;
  /** Start of the reading in ms, on the clock of `performance`. */
  readonly beganAt: number;
}

/** Screens that a phone has shown recently, and whether it still shows them. */
export class ScreenChange {
  readonly #backend: Pick<UiBackend, 'changes' | 'readSource'>;
  readonly #queue: Pick<PhoneQueue, 'run'>;
  readonly #timings: ChangeTimings;
  /** Readings by the time that was returned to callers. */
  readonly #readings = new Map<number, Reading>();
  #lastTime = 0;

  constructor(
    backend: Pick<UiBackend, 'changes' | 'readSource'>,
    queue: Pick<PhoneQueue, 'run'>,
    timings: ChangeTimings,
  ) {
    this.#backend = backend;
    this.#queue = queue;
    this.#timings = timings;
  }

  /** Begins a reading. The result returns the unique time that names the reading, once it is complete. */
  begin(): (snapshot: ScreenSnapshot) => number {
    const [changes, beganAt] = [this.#backend.changes?.count ?? 0, performance.now()];
    return (snapshot) => {
      this.#lastTime = Math.max(Date.now(), this.#lastTime + 1);
      if (this.#backend.changes !== undefined) this.#keep(this.#lastTime, { snapshot, changes, beganAt });
      return this.#lastTime;
    };
  }

  #keep(time: number, reading: Reading): void {
    this.#readings.set(time, reading);
    const [oldest] = this.#readings.keys();
    if (this.#readings.size > maxReadings && oldest !== undefined) this.#readings.delete(oldest);
  }

  /** Waits for a change without blocking other calls. Rejects like a reading. */
  async wait(
    { capturedAt, ...limits }: AgentCallParams<'screen.change'>,
    signal: AbortSignal,
  ): Promise<AgentCallResult<'screen.change'>> {
    const { changes } = this.#backend;
    const { firstLookMs, maxLookMs, ownLookMs, changeRestMs } = this.#timings;
    if (changes === undefined) return 'untold';
    const before = this.#readings.get(capturedAt);
    if (before === undefined) {
      // The reading is from an earlier helper, or old. The caller reads at once, but no more often than necessary.
      await pause(Math.min(limits.restMs, limits.timeoutMs), signal);
      return 'changed';
    }
    const endsAt = performance.now() + limits.timeoutMs;
    let restsUntil = before.beganAt + limits.restMs;
    let count = before.changes;
    // Reads at once after a new watch: the phone does not report earlier changes.
    let lookMs = (await changes.watch(signal)) ? 0 : firstLookMs;
    let seen = before.snapshot;
    using looks = new PhoneLooks(changes, ownLookMs);
    for (;;) {
      await changes.moreThan(count, Math.min(lookMs, endsAt - performance.now()), signal);
      await pause(Math.max(0, Math.min(restsUntil, endsAt) - performance.now()), signal);
      signal.throwIfAborted();
      const isTold = changes.count !== count;
      if (!isTold && performance.now() >= endsAt) return 'same';
      if (!isTold && looks.suffice(seen)) continue;
      if (!isTold && lookMs === maxLookMs) looks.begin();
      if (!isTold) lookMs = Math.min(Math.max(firstLookMs, 2 * lookMs), maxLookMs);
      count = changes.count;
      restsUntil = performance.now() + changeRestMs;
      seen = await this.#read(seen, signal);
      if (seen !== before.snapshot && seen.digest !== before.snapshot.digest) return 'changed';
    }
  }

  #read(known: ScreenSnapshot, signal: AbortSignal): Promise<ScreenSnapshot> {
    const read = (): Promise<ScreenSnapshot> => this.#backend.readSource(signal, known);
    return this.#queue.run(read, { changes: false, signal });
  }
}

/** Polling of the screen by the phone itself during one wait, in place of the host's readings. */
class PhoneLooks {
  readonly #changes: ChangeNotifier;
  readonly #ownLookMs: number;
  #end: (() => void) | undefined;
  #endsAt = -Infinity;

  constructor(changes: ChangeNotifier, ownLookMs: number) {
    this.#changes = changes;
    this.#ownLookMs = ownLookMs;
  }

  /** Begins the polling; call it before a reading. */
  begin(): void {
    this.#end ??= this.#changes.look();
    this.#endsAt = performance.now() + this.#ownLookMs;
  }

  /** Whether no other screen has been read since, and the phone would report one. */
  suffice(seen: ScreenSnapshot): boolean {
    return this.#end !== undefined && performance.now() < this.#endsAt && this.#changes.lookedAt === seen;
  }

  [Symbol.dispose](): void {
    this.#end?.();
  }
}
