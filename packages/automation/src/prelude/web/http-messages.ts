const tokenPattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// oxlint-disable-next-line no-control-regex -- these characters end a header line
const forbiddenInValue = /[\0\r\n]/;

/** Names are kept in lower case, as the standard shows them; values of one name are joined by commas. */
export class PlainHeaders implements Headers {
  readonly #values = new Map<string, string[]>();

  constructor(init: HeadersInit = {}) {
    const entries = isIterable(init) ? init : Object.entries(init);
    for (const [name, value] of entries) this.append(name, value);
  }

  append(name: string, value: string): void {
    const key = nameOf(name);
    this.#values.set(key, [...(this.#values.get(key) ?? []), valueOf(key, value)]);
  }

  delete(name: string): void {
    this.#values.delete(nameOf(name));
  }

  get(name: string): string | null {
    return this.#values.get(nameOf(name))?.join(', ') ?? null;
  }

  getSetCookie(): string[] {
    return [...(this.#values.get('set-cookie') ?? [])];
  }

  has(name: string): boolean {
    return this.#values.has(nameOf(name));
  }

  set(name: string, value: string): void {
    const key = nameOf(name);
    this.#values.set(key, [valueOf(key, value)]);
  }

  forEach(callback: (value: string, name: string, headers: Headers) => void): void {
    for (const [name, value] of this) callback(value, name, this);
  }

  *entries(): IterableIterator<[string, string]> {
    for (const name of [...this.#values.keys()].sort()) {
      const values = this.#values.get(name) ?? [];
      if (name === 'set-cookie') for (const value of values) yield [name, value];
      else yield [name, values.join(', ')];
    }
  }

  *keys(): IterableIterator<string> {
    for (const [name] of this) yield name;
  }

  *values(): IterableIterator<string> {
    for (const [, value] of this) yield value;
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries();
  }
}

function isIterable(init: HeadersInit): init is Iterable<readonly [string, string]> {
  return Symbol.iterator in init;
}

function nameOf(name: string): string {
  const text = String(name);
  if (!tokenPattern.test(text)) throw new TypeError(`Invalid header name: ${JSON.stringify(text)}.`);
  return text.toLowerCase();
}

function valueOf(name: string, value: string): string {
  const text = String(value).replaceAll(/^[\t ]+|[\t ]+$/g, '');
  if (forbiddenInValue.test(text))
    throw new TypeError(`The value of the header ${name} has a line break or NUL.`);
  // A header goes out as bytes; other characters would be changed silently.
  if (/[^\0-ÿ]/.test(text))
    throw new TypeError(`The value of the header ${name} has a character above U+00FF.`);
  return text;
}

/** The bytes of a body and the content type that goes with them. */
interface BodyContent {
  bytes: Uint8Array<ArrayBuffer>;
  contentType: string | undefined;
}

/** What may be given as a body, as bytes; undefined for no body. */
function contentOf(body: BodyInit | null | undefined): BodyContent | undefined {
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
class PlainBody implements Body {
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

const upperCaseMethods = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH'];
const forbiddenMethods = ['CONNECT', 'TRACE', 'TRACK'];

export class PlainRequest extends PlainBody implements Request {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly redirect: 'follow' | 'manual' | 'error';
  readonly signal: AbortSignal;

  constructor(input: string | URL | Request, init: RequestInit = {}) {
    const base = input instanceof PlainRequest ? input : undefined;
    const content = contentOf(init.body);
    super(content?.bytes ?? (init.body === undefined ? base?.unread() : undefined));
    this.url = base?.url ?? absolute(input);
    this.method = methodOf(init.method ?? base?.method ?? 'GET');
    this.headers = new PlainHeaders(init.headers ?? base?.headers ?? {});
    this.redirect = redirectOf(init.redirect ?? base?.redirect ?? 'follow');
    this.signal = init.signal ?? base?.signal ?? new AbortController().signal;
    if (content !== undefined && (this.method === 'GET' || this.method === 'HEAD'))
      throw new TypeError('Request with GET/HEAD method cannot have body.');
    if (content?.contentType !== undefined && !this.headers.has('content-type'))
      this.headers.set('content-type', content.contentType);
  }

  clone(): Request {
    return new PlainRequest(this);
  }

  /** The body as it goes out. */
  outgoingBytes(): Uint8Array | undefined {
    return this.unread();
  }
}

function absolute(url: string | URL | Request): string {
  // oxlint-disable-next-line typescript/no-base-to-string -- as the standard does with what is no request
  const text = String(url);
  const parsed = URL.parse(text);
  if (parsed === null) throw new TypeError(`Failed to parse URL from ${text}`);
  if (parsed.username !== '' || parsed.password !== '')
    throw new TypeError(
      'The URL of a request may not hold a user name or password: use the header Authorization.',
    );
  return parsed.href;
}

function methodOf(method: string): string {
  const name = String(method);
  const upper = name.toUpperCase();
  if (!/^[A-Za-z!#$%&'*+.^_`|~0-9-]+$/.test(name) || forbiddenMethods.includes(upper))
    throw new TypeError(`'${name}' is not a valid HTTP method.`);
  return upperCaseMethods.includes(upper) ? upper : name;
}

function redirectOf(redirect: string): 'follow' | 'manual' | 'error' {
  if (redirect === 'follow' || redirect === 'manual' || redirect === 'error') return redirect;
  throw new TypeError(`redirect must be "follow", "manual" or "error", not "${redirect}".`);
}

/** What only a response from the network has. */
interface Origin {
  url: string;
  redirected: boolean;
}

export class PlainResponse extends PlainBody implements Response {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  readonly #origin: Origin;

  constructor(
    body?: BodyInit | null,
    init: ResponseInit = {},
    origin: Origin = { url: '', redirected: false },
  ) {
    const content = contentOf(body);
    super(content?.bytes);
    const status = init.status ?? 200;
    if (!Number.isInteger(status) || status < 0 || status > 599)
      throw new RangeError('The status of a response must be an integer from 200 to 599.');
    this.status = status;
    this.statusText = String(init.statusText ?? '');
    this.headers = new PlainHeaders(init.headers);
    this.#origin = origin;
    if (content?.contentType !== undefined && origin.url === '' && !this.headers.has('content-type'))
      this.headers.set('content-type', content.contentType);
  }

  static json(value: unknown, init: ResponseInit = {}): Response {
    const headers = new PlainHeaders(init.headers);
    if (!headers.has('content-type')) headers.set('content-type', 'application/json');
    return new PlainResponse(JSON.stringify(value), { ...init, headers });
  }

  static error(): Response {
    return new PlainResponse(null, { status: 0 });
  }

  get url(): string {
    return this.#origin.url;
  }

  get redirected(): boolean {
    return this.#origin.redirected;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status <= 299;
  }

  clone(): Response {
    return new PlainResponse(this.unread() ?? null, this, this.#origin);
  }
}
