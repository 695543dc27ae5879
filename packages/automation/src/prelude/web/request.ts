import { contentOf, PlainBody } from './body.ts';
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
