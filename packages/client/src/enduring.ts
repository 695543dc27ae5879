import { pause } from './pause.ts';
import { isPassing } from './transport.ts';

const retryMs = 500;

/** Asks again until the service is there. */
export async function enduring<Result>(ask: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (signal?.aborted === true || !isPassing(error)) throw error;
      await pause(retryMs, signal);
    }
  }
}
