import { contentOf, PlainBody } from './body.ts';
import { PlainHeaders } from './headers.ts';

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
