import type { Server, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

const lookEveryMs = 20;

/** Tracks the requests that have no answer yet. */
export class RequestsUnderWay {
  readonly #open = new Set<ServerResponse>();

  watch(server: Server): void {
    server.on('request', (_, response: ServerResponse) => {
      this.#open.add(response);
      response.once('close', () => this.#open.delete(response));
    });
  }

  /** Resolves when all requests have their answers, or after the time limit. */
  async whenNone(timeoutMs: number): Promise<void> {
    const until = performance.now() + timeoutMs;
    while (this.#hasAny() && performance.now() < until) await pause(lookEveryMs);
  }

  #hasAny(): boolean {
    for (const response of this.#open) {
      if (!response.headersSent) return true;
      // A response with headers is a stream, or on its way.
      this.#open.delete(response);
    }
    return false;
  }
}
