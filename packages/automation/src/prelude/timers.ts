import type { Port } from './port.ts';

const maxDelayMs = 2 ** 31 - 1;

interface Timer {
  callback: (...args: unknown[]) => void;
  args: unknown[];
  delayMs: number;
  repeats: boolean;
}

/** Creates timers. The child runs them; the isolate holds only their callbacks. */
export function createTimers(port: Port) {
  const timers = new Map<number, Timer>();
  let lastId = 0;

  const arm = (id: number, delayMs: number, keepsAlive = true): void => {
    const refused = port.ask('timer', { id, delayMs, keepsAlive });
    if (refused === undefined) return;
    timers.delete(id);
    throw new RangeError(String(refused));
  };
  const add = (timer: Timer, keepsAlive?: boolean): number => {
    if (typeof timer.callback !== 'function')
      throw new TypeError('The callback of a timer must be a function.');
    timers.set(++lastId, timer);
    arm(lastId, timer.delayMs, keepsAlive);
    return lastId;
  };
  const clear = (id: unknown): void => {
    const number = Number(id);
    if (timers.delete(number)) port.ask('clearTimer', { id: number });
  };

  return {
    globals: {
      setTimeout: (callback: Timer['callback'], delayMs?: number, ...args: unknown[]) =>
        add({ callback, args, delayMs: delayOf(delayMs), repeats: false }),
      setInterval: (callback: Timer['callback'], delayMs?: number, ...args: unknown[]) =>
        add({ callback, args, delayMs: delayOf(delayMs), repeats: true }),
      setImmediate: (callback: Timer['callback'], ...args: unknown[]) =>
        add({ callback, args, delayMs: 0, repeats: false }),
      clearTimeout: clear,
      clearInterval: clear,
      clearImmediate: clear,
    },
    sleep: (durationMs: number): Promise<void> =>
      new Promise((resolve) => {
        add({ callback: () => resolve(), args: [], delayMs: delayOf(durationMs), repeats: false });
      }),
    /** Schedules a callback without keeping the run alive. */
    later: (callback: () => void, delayMs: number): void =>
      void add({ callback, args: [], delayMs: delayOf(delayMs), repeats: false }, false),
    /**
     * Called by the child when a timer expires. An interval is rescheduled after its callback, so that calls never
     * pile up.
     */
    fire(id: number): void {
      const timer = timers.get(id);
      if (timer === undefined) return;
      if (!timer.repeats) timers.delete(id);
      timer.callback(...timer.args);
      if (timer.repeats && timers.has(id)) arm(id, timer.delayMs);
    },
  };
}

/** Returns the delay by Node's rule: any value except a number from 1 to 2³¹−1 counts as 1. */
function delayOf(delayMs: unknown): number {
  const number = Number(delayMs);
  return number >= 1 && number <= maxDelayMs ? Math.trunc(number) : 1;
}
