import type { Logger } from 'pino';

interface UpkeepOptions {
  log: Logger;
  run: (projectId: string, signal: AbortSignal) => Promise<void>;
}

/** Repacks the logs of projects in the background, one project at a time. */
export class Upkeep {
  readonly #options: UpkeepOptions;
  readonly #due = new Set<string>();
  #current: { id: string; abort: AbortController; done: Promise<void> } | undefined;
  #isClosed = false;

  constructor(options: UpkeepOptions) {
    this.#options = options;
  }

  add(id: string): void {
    this.#due.add(id);
    this.#next();
  }

  forget(id: string): void {
    this.#due.delete(id);
    if (this.#current?.id === id) this.#current.abort.abort();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#current?.abort.abort();
    await this.#current?.done;
  }

  #next(): void {
    const [id] = this.#due;
    if (id === undefined || this.#current !== undefined || this.#isClosed) return;
    this.#due.delete(id);
    const abort = new AbortController();
    const done = this.#run(id, abort.signal).finally(() => {
      this.#current = undefined;
      this.#next();
    });
    this.#current = { id, abort, done };
  }

  async #run(id: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#options.run(id, signal);
    } catch (error) {
      if (!signal.aborted)
        this.#options.log.warn({ err: error, projectId: id }, 'the log of a project could not be repacked');
    }
  }
}
