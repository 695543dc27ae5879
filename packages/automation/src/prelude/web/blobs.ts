import { ByteStream } from './byte-stream.ts';

type Bytes = Uint8Array<ArrayBuffer>;

let contentOfBlob: (blob: PlainBlob) => Bytes;

export class PlainBlob implements Blob {
  readonly #bytes: Bytes;
  readonly #type: string;

  static {
    contentOfBlob = (blob) => blob.#bytes;
  }

  constructor(parts: Iterable<BlobPart> = [], options: BlobPropertyBag = {}) {
    if (typeof parts === 'string' || typeof parts[Symbol.iterator] !== 'function')
      throw new TypeError('The parts of a Blob must be a list, such as [text].');
    this.#bytes = joined(Array.from(parts, (part) => bytesOfPart(part, options)));
    this.#type = mediaType(options.type);
  }

  get size(): number {
    return this.#bytes.length;
  }

  get type(): string {
    return this.#type;
  }

  slice(start = 0, end = this.size, type = ''): Blob {
    return new PlainBlob([this.#bytes.subarray(...placesOf(start, end, this.size))], { type });
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return this.#bytes.slice().buffer;
  }

  async bytes(): Promise<Bytes> {
    return this.#bytes.slice();
  }

  async text(): Promise<string> {
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(this.#bytes);
  }

  stream(): ReadableStream<Bytes> {
    return new ByteStream(this.#bytes);
  }
}

export class PlainFile extends PlainBlob implements File {
  readonly #name: string;
  readonly #lastModified: number;

  constructor(parts: Iterable<BlobPart>, name: string, options: FilePropertyBag = {}) {
    super(parts, options);
    this.#name = String(name);
    this.#lastModified = Math.trunc(Number(options.lastModified ?? Date.now())) || 0;
  }

  get name(): string {
    return this.#name;
  }

  get lastModified(): number {
    return this.#lastModified;
  }
}

/** Returns the bytes of a blob, which callers must not modify. */
export const bytesOfBlob = (blob: PlainBlob): Bytes => contentOfBlob(blob);

/** Copies the current bytes of `data`. */
export function bytesOf(data: BufferSource): Bytes {
  if (data instanceof ArrayBuffer) return new Uint8Array(data.slice(0));
  if (!ArrayBuffer.isView(data)) throw new TypeError('Bytes must be an ArrayBuffer or a view of one.');
  return new Uint8Array(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
}

export function joined(parts: readonly Uint8Array[]): Bytes {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function bytesOfPart(part: BlobPart, { endings }: BlobPropertyBag): Bytes {
  if (part instanceof PlainBlob) return bytesOfBlob(part);
  if (part instanceof ArrayBuffer || ArrayBuffer.isView(part)) return bytesOf(part);
  // oxlint-disable-next-line typescript/no-base-to-string -- as the standard does with what is no part
  const text = String(part);
  return new TextEncoder().encode(endings === 'native' ? text.replaceAll(/\r\n?/g, '\n') : text);
}

/** Normalizes a media type to lower case. Empty if it contains invalid characters. */
const mediaType = (type: unknown = ''): string =>
  /^[ -~]*$/.test(String(type)) ? String(type).toLowerCase() : '';

const placesOf = (start: number, end: number, size: number): [start: number, end: number] => {
  const place = (at: number): number => (at < 0 ? Math.max(size + at, 0) : Math.min(at, size));
  return [place(start), Math.max(place(start), place(end))];
};
