/** More would only be a leak; the isolate gets a RangeError. */
const maxTimers = 10_000;

/** The timers of one run. `fire` brings a due one into the isolate; it counts against the limit until it is there. */
export function createTimers(fire: (id: number) => Promise<void>) {
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
    start({
      id,
      delayMs,
      keepsAlive,
    }: {
      id: number;
      delayMs: number;
      keepsAlive: boolean;
    }): string | undefined {
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
