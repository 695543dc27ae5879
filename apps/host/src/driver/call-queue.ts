import { untilAborted } from '../time/time-limit.ts';

/** Runs tasks one after the other, in the order they came. A task that is given up leaves the line at once. */
export interface CallQueue {
  run<T>(task: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

export function createCallQueue(): CallQueue {
  let last: Promise<void> = Promise.resolve();
  return {
    async run(task, signal) {
      const previous = last;
      const turn = Promise.withResolvers<void>();
      last = turn.promise;
      try {
        await previous;
        signal.throwIfAborted();
        return await task();
      } finally {
        turn.resolve();
      }
    },
  };
}

interface Turn {
  /** Whether the task may change what the phone shows. */
  readonly changes: boolean;
  readonly signal: AbortSignal;
}

/** The calls of a phone: one after the other, and none that changes the screen while a picture of it is being taken. */
export interface PhoneQueue {
  run<T>(task: () => Promise<T>, turn: Turn): Promise<T>;
  /** Runs work of a picture: before the calls that wait, after the one that the phone works on. */
  runAhead<T>(task: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Calls that change the screen, and come to their turn from here on, wait until it is let go of. Returns how to. */
  holdScreen(): () => void;
}

export function createPhoneQueue(): PhoneQueue {
  const line = createCallQueue();
  const phone = createCallQueue();
  const holds = new Set<Promise<void>>();
  return {
    run: (task, { changes, signal }) =>
      line.run(async () => {
        // Waits for the holds that are there now: pictures without end would else keep a call waiting without end.
        if (changes) await untilAborted(signal, () => Promise.all([...holds]));
        return await phone.run(task, signal);
      }, signal),
    runAhead: (task, signal) => phone.run(task, signal),
    holdScreen() {
      const { promise, resolve } = Promise.withResolvers<void>();
      holds.add(promise);
      return () => {
        holds.delete(promise);
        resolve();
      };
    },
  };
}
