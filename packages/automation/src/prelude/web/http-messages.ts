import { PlainBody, contentOf } from './body.ts';
import { PlainHeaders } from './headers.ts';

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

  /** Returns the body as it is sent. */
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

/** Fields that only responses from the network have. */
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

  static redirect(url: string | URL, status = 302): Response {
    if (![301, 302, 303, 307, 308].includes(status))
      throw new RangeError('The status of a redirect must be 301, 302, 303, 307 or 308.');
    return new PlainResponse(null, { status, headers: { location: new URL(url).href } });
  }

  get type(): ResponseType {
    if (this.status === 0) return 'error';
    return this.#origin.url === '' ? 'default' : 'basic';
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
