import type { Logger } from 'pino';

/** Does `work` every `intervalMs`, never twice at a time. Returns the function that ends it, after the last one. */
export function periodically(
  log: Logger,
  intervalMs: number,
  work: () => Promise<void> | void,
): () => Promise<void> {
  let current: Promise<void> | undefined;
  const once = async (): Promise<void> => {
    try {
      await work();
    } catch (error) {
      log.error({ err: error }, 'periodic work failed');
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
