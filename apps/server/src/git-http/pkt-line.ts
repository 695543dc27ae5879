import { ByteQueue } from '../git/byte-queue.ts';

/** Git's framing: four hexadecimal digits with the length of the whole line, then its bytes; `0000` ends a list. */
const headerLength = 4;
export const flush = '0000';

export function pktLine(text: string): string {
  return (Buffer.byteLength(text) + headerLength).toString(16).padStart(headerLength, '0') + text;
}

/** The lines up to the next flush, without their line ends; undefined when the stream ends before. */
export async function readPktLines(stream: HookStream): Promise<string[] | undefined> {
  const lines: string[] = [];
  for (;;) {
    const header = await stream.takeBytes(headerLength);
    if (header === flush) return lines;
    const length = Number.parseInt(header ?? '', 16) - headerLength;
    const line = length >= 0 ? await stream.takeBytes(length) : undefined;
    if (line === undefined) return undefined;
    lines.push(line.replace(/\n$/, ''));
  }
}

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
