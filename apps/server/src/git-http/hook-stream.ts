import { ByteQueue } from '../git/byte-queue.ts';

/** What a hook sends, taken piece by piece. */
export class HookStream {
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #bytes = new ByteQueue();

  constructor(stream: AsyncIterable<Buffer>) {
    this.#chunks = stream[Symbol.asyncIterator]();
  }

  /** Undefined when the stream has ended. */
  takeLine(): Promise<string | undefined> {
    return this.#take(() => this.#bytes.takeLine()?.toString());
  }

  /** Undefined when the stream ends before. */
  takeBytes(count: number): Promise<string | undefined> {
    return this.#take(() => this.#bytes.take(count)?.toString());
  }

  async #take(attempt: () => string | undefined): Promise<string | undefined> {
    for (;;) {
      const taken = attempt();
      if (taken !== undefined) return taken;
      const next = await this.#chunks.next();
      if (next.done === true) return undefined;
      this.#bytes.push(next.value);
    }
  }
}
