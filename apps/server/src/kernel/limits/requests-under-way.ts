import type { Server, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

const lookEveryMs = 20;

/** The requests that have no answer yet, and when there was one last. */
export class RequestsUnderWay {
  readonly #open = new Set<ServerResponse>();
  #lastAt = -Infinity;

  watch(server: Server): void {
    server.on('request', (_, response: ServerResponse) => {
      this.#open.add(response);
      response.once('close', () => {
        this.#lastAt = performance.now();
        this.#open.delete(response);
      });
    });
  }

  wereAnyWithin(ms: number): boolean {
    return performance.now() - this.#lastAt < ms || this.#hasAny();
  }

  /** Resolves when all requests have their answers, or after the time limit. */
  async whenNone(timeoutMs: number): Promise<void> {
    const until = performance.now() + timeoutMs;
    while (this.#hasAny() && performance.now() < until) await pause(lookEveryMs);
  }

  #hasAny(): boolean {
    for (const response of this.#open) {
      if (!response.headersSent) return true;
      // The answer is a stream, or on its way.
      this.#lastAt = performance.now();
      this.#open.delete(response);
    }
    return false;
  }
}
