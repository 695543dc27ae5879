import type { AgentCallParams, AgentCallResult } from '@phalanx/protocol';
import type { HostTimings } from '../time/host-timings.ts';
import { pause } from '../time/time-limit.ts';
import type { PhoneQueue } from './call-queue.ts';
import type { ChangeNotifier, ToldScreen, UiBackend } from './ui-backend.ts';

type ChangeTimings = Pick<HostTimings, 'firstLookMs' | 'maxLookMs' | 'ownLookMs' | 'changeRestMs'>;

const maxReadings = 8;

interface Reading {
  readonly told: ToldScreen;
  /** Number of changes that had been told before it. */
  readonly changes: number;
  /** Start of the reading, on the clock of `performance`. */
  readonly beganAt: number;
}

/** Screens that a phone has shown lately, and whether it still shows them. */
export class ScreenChange {
  readonly #backend: Pick<UiBackend, 'changes' | 'readSource'>;
  readonly #queue: Pick<PhoneQueue, 'run'>;
  readonly #timings: ChangeTimings;
  /** Readings by the time that callers were told. */
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

  /** Begins a reading. The result gives the time that names it, once it is there; no two have the same. */
  begin(): (told: ToldScreen) => number {
    const [changes, beganAt] = [this.#backend.changes?.count ?? 0, performance.now()];
    return (told) => {
      this.#lastTime = Math.max(Date.now(), this.#lastTime + 1);
      if (this.#backend.changes !== undefined) this.#keep(this.#lastTime, { told, changes, beganAt });
      return this.#lastTime;
    };
  }

  #keep(time: number, reading: Reading): void {
    this.#readings.set(time, reading);
    const [oldest] = this.#readings.keys();
    if (this.#readings.size > maxReadings && oldest !== undefined) this.#readings.delete(oldest);
  }

  /** Holds up no other call. Rejects as a reading does. */
  async wait(
    { capturedAt, ...limits }: AgentCallParams<'screen.change'>,
    signal: AbortSignal,
  ): Promise<AgentCallResult<'screen.change'>> {
    const { changes } = this.#backend;
    const { firstLookMs, maxLookMs, ownLookMs, changeRestMs } = this.#timings;
    if (changes === undefined) return 'untold';
    const before = this.#readings.get(capturedAt);
    if (before === undefined) {
      // Read by an earlier helper, or long ago. The caller looks at once, but no more often than it has to.
      await pause(Math.min(limits.restMs, limits.timeoutMs), signal);
      return 'changed';
    }
    const endsAt = performance.now() + limits.timeoutMs;
    let restsUntil = before.beganAt + limits.restMs;
    let count = before.changes;
    // Looks at once after a new watch: the phone does not tell changes from before it.
    let lookMs = (await changes.watch(signal)) ? 0 : firstLookMs;
    let seen = before.told;
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
      if (seen !== before.told && seen.digest !== before.told.digest) return 'changed';
    }
  }

  #read(known: ToldScreen, signal: AbortSignal): Promise<ToldScreen> {
    const read = (): Promise<ToldScreen> => this.#backend.readSource(signal, known);
    return this.#queue.run(read, { changes: false, signal });
  }
}

/** The looks of a phone at its own screen during one wait, in place of the host's readings. */
class PhoneLooks {
  readonly #changes: ChangeNotifier;
  readonly #ownLookMs: number;
  #end: (() => void) | undefined;
  #endsAt = -Infinity;

  constructor(changes: ChangeNotifier, ownLookMs: number) {
    this.#changes = changes;
    this.#ownLookMs = ownLookMs;
  }

  /** Begins the looks; call it before a reading. */
  begin(): void {
    this.#end ??= this.#changes.look();
    this.#endsAt = performance.now() + this.#ownLookMs;
  }

  /** Whether nobody has read another screen since, and the phone would tell of one. */
  suffice(seen: ToldScreen): boolean {
    return this.#end !== undefined && performance.now() < this.#endsAt && this.#changes.lookedAt === seen;
  }

  [Symbol.dispose](): void {
    this.#end?.();
  }
}
