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
