/** The bytes of a body and the content type that goes with them. */
export interface BodyContent {
  bytes: Uint8Array<ArrayBuffer>;
  contentType: string | undefined;
}

/** What may be given as a body, as bytes; undefined for no body. */
export function contentOf(body: BodyInit | null | undefined): BodyContent | undefined {
  if (body === null || body === undefined) return undefined;
  if (body instanceof URLSearchParams)
    return { bytes: encode(body.toString()), contentType: 'application/x-www-form-urlencoded;charset=UTF-8' };
  if (body instanceof ArrayBuffer) return { bytes: new Uint8Array(body.slice(0)), contentType: undefined };
  if (ArrayBuffer.isView(body)) {
    const view = new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
    return { bytes: new Uint8Array(view), contentType: undefined };
  }
  return { bytes: encode(String(body)), contentType: 'text/plain;charset=UTF-8' };
}

const encode = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

/** A body that is all there and can be read once. */
export class PlainBody implements Body {
  readonly #bytes: Uint8Array<ArrayBuffer> | undefined;
  #used = false;

  constructor(bytes: Uint8Array<ArrayBuffer> | undefined) {
    this.#bytes = bytes;
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

  async bytes(): Promise<Uint8Array> {
    return this.#take().slice();
  }

  /** The bytes for a clone; a body that was read has none to give. */
  protected unread(): Uint8Array<ArrayBuffer> | undefined {
    if (this.#used) throw new TypeError('The body was already read: clone it before.');
    return this.#bytes;
  }

  #take(): Uint8Array<ArrayBuffer> {
    const bytes = this.unread();
    this.#used = bytes !== undefined;
    return bytes ?? new Uint8Array(0);
  }
}
