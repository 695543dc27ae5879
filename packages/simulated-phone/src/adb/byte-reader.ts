import type { Readable } from 'node:stream';

/** Reads exact numbers of bytes from a stream. Rejects when the stream ends before. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(stream: Readable) {
    this.#chunks = stream.iterator({ destroyOnReturn: false });
  }

  async read(sizeBytes: number): Promise<Buffer> {
    const parts: Buffer[] = [this.#rest];
    let bufferedBytes = this.#rest.length;
    while (bufferedBytes < sizeBytes) {
      const next = await this.#chunks.next();
      if (next.done) throw new Error('The stream ended in the middle of a message.');
      parts.push(next.value);
      bufferedBytes += next.value.length;
    }
    const all = parts.length === 1 ? this.#rest : Buffer.concat(parts);
    this.#rest = all.subarray(sizeBytes);
    return all.subarray(0, sizeBytes);
  }
}
