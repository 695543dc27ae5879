import { bytesOf, bytesOfBlob, PlainBlob } from './blobs.ts';
import { ByteStream } from './byte-stream.ts';
import { decodeForm, encodeForm, PlainFormData } from './form-data.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** Bytes of a body with their content type. */
interface BodyContent {
  bytes: Bytes;
  contentType: string | undefined;
}

/** Converts a body of any permitted form to bytes; undefined for no body. */
export function contentOf(body: BodyInit | null | undefined): BodyContent | undefined {
  if (body === null || body === undefined) return undefined;
  if (body instanceof URLSearchParams)
    return { bytes: encode(body.toString()), contentType: 'application/x-www-form-urlencoded;charset=UTF-8' };
  if (body instanceof PlainFormData) return encodeForm(body);
  if (body instanceof PlainBlob)
    return { bytes: bytesOfBlob(body), contentType: body.type === '' ? undefined : body.type };
  if (body instanceof ByteStream)
    throw new TypeError('A stream cannot be a body here: give its bytes, such as await response.bytes().');
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body))
    return { bytes: bytesOf(body), contentType: undefined };
  // oxlint-disable-next-line typescript/no-base-to-string -- as the standard does with what is no body
  return { bytes: encode(String(body)), contentType: 'text/plain;charset=UTF-8' };
}

const encode = (text: string): Bytes => new TextEncoder().encode(text);

/** Body that is fully in memory and can be read once. */
export abstract class PlainBody implements Body {
  abstract readonly headers: Headers;
  readonly #bytes: Bytes | undefined;
  #stream: ByteStream | undefined;
  #used = false;

  constructor(bytes: Bytes | undefined) {
    this.#bytes = bytes;
  }

  get body(): ReadableStream<Bytes> | null {
    if (this.#bytes === undefined) return null;
    // A body that was already read is empty.
    const left = this.#used ? this.#bytes.subarray(0, 0) : this.#bytes;
    return (this.#stream ??= new ByteStream(left, () => (this.#used = true)));
  }

  get bodyUsed(): boolean {
    return this.#used;
  }

  async text(): Promise<string> {
    return new TextDecoder().decode(this.#take());
  }

  async json(): Promise<unknown> {
    return JSON.parse(new TextDecoder().decode(this.#take()));
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return this.#take().slice().buffer;
  }

  async blob(): Promise<Blob> {
    return new PlainBlob([this.#take()], { type: this.headers.get('content-type') ?? '' });
  }

  async bytes(): Promise<Bytes> {
    return this.#take().slice();
  }

  async formData(): Promise<FormData> {
    return decodeForm(this.#take(), this.headers.get('content-type') ?? '');
  }

  /** Returns the bytes for a clone; undefined if the body was already read. */
  unread(): Bytes | undefined {
    if (this.#used || this.#stream?.locked === true)
      throw new TypeError('The body was already read: clone it before.');
    return this.#bytes;
  }

  #take(): Bytes {
    const bytes = this.unread();
    this.#used = bytes !== undefined;
    this.#stream?.drain();
    return bytes ?? new Uint8Array(0);
  }
}
