import { renamed } from './events.ts';

const pieceBytes = 64 * 1024;

type Bytes = Uint8Array<ArrayBuffer>;

/** Unread bytes of a stream, shared by its readers. */
interface Source {
  bytes: Bytes;
  start: number;
  reader: ByteReader | undefined;
  /** Called on the first read. */
  onRead: () => void;
}

/** Stream of bytes that are fully in memory, read in chunks. */
export class ByteStream implements ReadableStream<Bytes> {
  readonly #source: Source;

  constructor(bytes: Bytes, onRead: () => void = () => {}) {
    this.#source = { bytes, start: 0, reader: undefined, onRead };
  }

  /** State for the console. */
  get state(): 'readable' | 'closed' {
    return this.#source.start < this.#source.bytes.length ? 'readable' : 'closed';
  }

  get locked(): boolean {
    return this.#source.reader !== undefined;
  }

  getReader(): ReadableStreamDefaultReader<Bytes> {
    if (this.locked) throw new TypeError('Invalid state: ReadableStream is locked');
    const reader = new ByteReader(this.#source);
    this.#source.reader = reader;
    return reader;
  }

  async cancel(): Promise<void> {
    if (this.locked) throw new TypeError('Invalid state: ReadableStream is locked');
    skip(this.#source);
  }

  /** Removes the bytes, because they were read by other means. */
  drain(): void {
    skip(this.#source);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Bytes, undefined> {
    const reader = this.getReader();
    try {
      for (let piece = await reader.read(); !piece.done; piece = await reader.read()) yield piece.value;
      return undefined;
    } finally {
      await reader.cancel();
      reader.releaseLock();
    }
  }
}

class ByteReader implements ReadableStreamDefaultReader<Bytes> {
  readonly closed: Promise<void>;
  #source: Source | undefined;
  readonly #close: () => void;

  constructor(source: Source) {
    this.#source = source;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.closed = promise;
    this.#close = resolve;
  }

  async read(): Promise<ReadableStreamReadResult<Bytes>> {
    const source = this.#held();
    source.onRead();
    const { bytes, start } = source;
    if (start >= bytes.length) {
      this.#close();
      return { done: true, value: undefined };
    }
    source.start = Math.min(start + pieceBytes, bytes.length);
    return { done: false, value: bytes.slice(start, source.start) };
  }

  async cancel(): Promise<void> {
    skip(this.#held());
    this.#close();
  }

  releaseLock(): void {
    if (this.#source !== undefined) this.#source.reader = undefined;
    this.#source = undefined;
  }

  #held(): Source {
    if (this.#source === undefined)
      throw new TypeError('Invalid state: The reader is not attached to a stream');
    return this.#source;
  }
}

renamed(ByteStream, 'ReadableStream');
renamed(ByteReader, 'ReadableStreamDefaultReader');

function skip(source: Source): void {
  source.onRead();
  source.start = source.bytes.length;
}
