import type { FaultMonitor } from './faults/fault-monitor.ts';

/** Does `work` every `intervalMs`, never twice at a time. Returns the function that ends it, after the last one. */
export function periodically(
  faults: FaultMonitor,
  intervalMs: number,
  work: () => Promise<void> | void,
): () => Promise<void> {
  let current: Promise<void> | undefined;
  const once = async (): Promise<void> => {
    try {
      await work();
    } catch (error) {
      faults.report(error, 'periodic work failed');
    }
    current = undefined;
  };
  const timer = setInterval(() => {
    current ??= once();
  }, intervalMs).unref();
  return async () => {
    clearInterval(timer);
    await current;
  };
}
