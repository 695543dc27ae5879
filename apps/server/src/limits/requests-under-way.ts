import type { Server, ServerResponse } from 'node:http';

/** The requests that have no answer yet. */
export class RequestsUnderWay {
  readonly #open = new Set<ServerResponse>();
  readonly #waiting = new Set<() => void>();

  watch(server: Server): void {
    server.on('request', (_, response: ServerResponse) => {
      this.#open.add(response);
      response.once('close', () => this.#close(response));
    });
  }

  /** Resolves when there is none, and after so long at the latest. */
  async waitForNone(mostMs: number): Promise<void> {
    if (!this.#hasAny()) return;
    await new Promise<void>((resolve) => {
      const goOn = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(goOn);
        resolve();
      };
      const timer = setTimeout(goOn, mostMs).unref();
      this.#waiting.add(goOn);
    });
  }

  #close(response: ServerResponse): void {
    this.#open.delete(response);
    if (this.#waiting.size > 0 && !this.#hasAny()) for (const goOn of this.#waiting) goOn();
  }

  #hasAny(): boolean {
    for (const response of this.#open) {
      if (!response.headersSent) return true;
      // A stream, or on its way.
      this.#open.delete(response);
    }
    return false;
  }
}
