import type { PortOrders } from '@phalanx/automation';

/** More would only be a leak, as in a run. */
const maxTimers = 10_000;

interface Timer {
  id: number;
  dueAt: number;
  keepsAlive: boolean;
}

/** Time that passes only when nothing else is left to do: it goes on to the next timer. */
export class VirtualClock {
  /** Virtual milliseconds since the run began. */
  now = 0;
  /** In the order of their starts, which decides between equal times. */
  readonly #timers = new Map<number, Timer>();

  /** Whether a timer waits that keeps the run alive. */
  get isKept(): boolean {
    return [...this.#timers.values()].some(({ keepsAlive }) => keepsAlive);
  }

  start({ id, delayMs, keepsAlive }: PortOrders['timer']): string | undefined {
    if (this.#timers.size >= maxTimers) return `Too many timers: at most ${maxTimers} may wait at a time.`;
    this.#timers.set(id, { id, dueAt: this.now + delayMs, keepsAlive });
    return undefined;
  }

  clear(id: number): void {
    this.#timers.delete(id);
  }

  /** Lets the time come of the first timer, which is gone then. */
  next(): number | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers.values()) if (!first || timer.dueAt < first.dueAt) first = timer;
    if (first === undefined) return undefined;
    this.#timers.delete(first.id);
    this.now = Math.max(this.now, first.dueAt);
    return first.id;
  }
}
