import { untilAborted } from '../time/time-limit.ts';

/**
 * Queue that runs tasks one at a time, in the order of their arrival. Skips a task whose signal has aborted before its
 * turn.
 */
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

/**
 * Queue of a phone's calls. Runs one at a time, and none that changes the screen while a picture of it is being taken.
 */
export interface PhoneQueue {
  run<T>(task: () => Promise<T>, turn: Turn): Promise<T>;
  /** Runs work for a picture ahead of the waiting calls, after the call in progress. */
  runAhead<T>(task: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /**
   * Makes calls that change the screen, and whose turn comes from now on, wait until the hold is released. Returns the
   * release.
   */
  holdScreen(): () => void;
}

export function createPhoneQueue(): PhoneQueue {
  const line = createCallQueue();
  const phone = createCallQueue();
  const holds = new Set<Promise<void>>();
  return {
    run: (task, { changes, signal }) =>
      line.run(async () => {
        // Waits only for the current holds: otherwise an endless series of pictures would block a call forever.
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
