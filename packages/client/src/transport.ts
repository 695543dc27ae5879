import type { DeviceOutcome, ErrorCode } from '@phalanx/protocol';

import { pause } from './pause.ts';

/** Method and path of an endpoint. */
export interface Endpoint {
  readonly method: string;
  /** With `:name` for a segment that varies. */
  readonly path: string;
  /** The content types of a body that is not JSON of ours. */
  readonly bodyTypes?: readonly string[];
}

export interface Inputs {
  readonly params?: Readonly<Record<string, unknown>> | undefined;
  readonly query?: object | undefined;
  readonly headers?: object | undefined;
  readonly body?: unknown;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** How long to wait for the beginning of an answer, and for its end where it is JSON. */
  readonly timeoutMs?: number | undefined;
}

export interface TransportOptions {
  /** Base address, such as `https://phones.example.com`; empty in a page of the service itself. */
  readonly url: string;
  /** An API token. Without one the session cookie of a browser is used. */
  readonly token?: string | undefined;
  /** How long a call may be sent again while the service is away or has no time. 0: it is sent once. */
  readonly retryForMs?: number | undefined;
}

/** Longer than any launch, and enough to send the largest file over a slow line. */
const defaultTimeoutMs = 120_000;
const defaultRetryForMs = 60_000;
const firstPauseMs = 250;
const maxPauseMs = 5000;

/** Sends requests to one service. */
export class Transport {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #retryForMs: number;

  constructor({ url, token, retryForMs = defaultRetryForMs }: TransportOptions) {
    // In JavaScript a missing variable comes here. The empty address is that of the page itself.
    if (typeof url !== 'string')
      throw new TypeError(
        'The client needs `url`, the address of the service, such as http://127.0.0.1:8080.',
      );
    this.#url = url.replace(/\/+$/, '');
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    this.#retryForMs = retryForMs;
  }

  /** The JSON of a success. */
  async json(endpoint: Endpoint, inputs?: Inputs, options?: CallOptions): Promise<unknown> {
    return (await this.whole(endpoint, inputs, options)).body;
  }

  /** The JSON of a success, and its headers. */
  async whole(
    endpoint: Endpoint,
    inputs: Inputs = {},
    options: CallOptions = {},
  ): Promise<{ body: unknown; headers: Headers }> {
    return this.#patiently(endpoint, inputs, options, async () => {
      const { signal, end } = deadline(options);
      try {
        const response = await this.#send(endpoint, inputs, signal);
        return { body: await readJson(response, options.signal), headers: response.headers };
      } finally {
        end();
      }
    });
  }

  /** A success, whatever its body is; 304 is one. */
  async send(endpoint: Endpoint, inputs: Inputs = {}, options: CallOptions = {}): Promise<Response> {
    return this.#patiently(endpoint, inputs, options, async () => {
      const { signal, end } = deadline(options);
      try {
        return await this.#send(endpoint, inputs, signal);
      } finally {
        end();
      }
    });
  }

  async #send(endpoint: Endpoint, inputs: Inputs, signal: AbortSignal): Promise<Response> {
    const { body, type } = bodyOf(endpoint, inputs.body);
    const response = await fetch(`${this.#url}${addressOf(endpoint.path, inputs)}`, {
      method: endpoint.method,
      headers: { ...this.#headers, ...type, ...inputs.headers },
      credentials: 'same-origin',
      redirect: 'manual',
      signal,
      ...(body === undefined ? {} : { body }),
    }).catch((error: unknown) => {
      if (isAbort(error)) throw error;
      const what = this.#url === '' ? 'The service' : `The service at ${this.#url}`;
      throw new ServiceUnreachable(`${what} does not answer.`, { cause: error });
    });
    if (response.ok || response.status === 304) return response;
    if (response.status < 400) {
      await response.body?.cancel();
      throw new NotTheService(response);
    }
    throw await failureOf(response);
  }

  async #patiently<Result>(
    { method }: Endpoint,
    { body }: Inputs,
    { signal }: CallOptions,
    ask: () => Promise<Result>,
  ): Promise<Result> {
    const until = Date.now() + this.#retryForMs;
    for (let waitMs = firstPauseMs; ; waitMs = Math.min(maxPauseMs, waitMs * 2)) {
      try {
        return await ask();
      } catch (error) {
        const again = pauseBefore(error, method === 'GET' || isKeyed(body), waitMs);
        if (again === undefined || Date.now() + again > until) throw error;
        await pause(again, signal);
      }
    }
  }
}

/** A launch with an ID of its caller's: the same again starts nothing twice. */
const isKeyed = (body: unknown): boolean => typeof body === 'object' && body !== null && 'launch_id' in body;

/** Refusals before which nothing was done. */
const undone: readonly string[] = ['too_busy', 'not_ready'];

/** How long to wait before the same is sent again; undefined when it must not be. */
function pauseBefore(error: unknown, isRepeatable: boolean, defaultMs: number): number | undefined {
  if (!isPassing(error)) return undefined;
  const isRefused = error instanceof ServiceError && (error.status === 429 || undone.includes(error.code));
  if (!isRefused && !isRepeatable) return undefined;
  // Streams are held for as long as somebody reads them.
  if (error instanceof ServiceError && error.code === 'too_many_streams') return undefined;
  // A full disk is emptied by people.
  if (error instanceof ServiceError && [500, 507].includes(error.status)) return undefined;
  // Callers that were refused together do not come back together.
  return (
    (error instanceof ServiceError ? (error.retryAfterMs ?? defaultMs) : defaultMs) * (1 + Math.random() / 5)
  );
}

async function readJson(response: Response, signal: AbortSignal | undefined): Promise<unknown> {
  const text = await response.text().catch((error: unknown) => {
    signal?.throwIfAborted();
    throw new ServiceUnreachable(`The answer of ${response.url} broke off.`, { cause: error });
  });
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new NotTheService(response);
  }
}

/** A signal of the caller's own, and of the time; `end` forgets the time, for a body that may take any. */
function deadline({ signal, timeoutMs = defaultTimeoutMs }: CallOptions): {
  signal: AbortSignal;
  end: () => void;
} {
  const late = new AbortController();
  const timer = setTimeout(() => {
    const cause = new DOMException('It took too long.', 'TimeoutError');
    late.abort(new ServiceUnreachable(`The service did not answer within ${timeoutMs / 1000} s.`, { cause }));
  }, timeoutMs);
  return {
    signal: signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]),
    end: () => clearTimeout(timer),
  };
}

const isAbort = (error: unknown): boolean =>
  error instanceof ServiceUnreachable || (error instanceof Error && error.name === 'AbortError');

function bodyOf(
  { bodyTypes }: Endpoint,
  body: unknown,
): { body?: BodyInit; type: Readonly<Record<string, string>> } {
  if (body === undefined) return { type: {} };
  const [type] = bodyTypes ?? [];
  if (type === undefined) return { body: JSON.stringify(body), type: { 'content-type': 'application/json' } };
  // The types of the contracts let nothing else in.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { body: body as BodyInit, type: { 'content-type': type } };
}

/** The path with its parameters, and the query. */
function addressOf(path: string, { params = {}, query = {} }: Inputs): string {
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => segment(textOf(params[name])));
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  if (given.length === 0) return filled;
  return `${filled}?${new URLSearchParams(given.map(([name, value]) => [name, textOf(value)])).toString()}`;
}

const textOf = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : typeof value === 'number' || typeof value === 'boolean'
      ? String(value)
      : '';

/** `.` and `..` would vanish from the address, and the call would be another one. */
const segment = (text: string): string =>
  /^\.{1,2}$/.test(text) ? text.replaceAll('.', '%252E') : encodeURIComponent(text);

/** The body of a failure, in the words of the service. */
interface FailureBody {
  readonly code: ErrorCode;
  readonly message: string;
  readonly errors?: readonly string[];
  readonly devices?: readonly DeviceOutcome[];
}

/** The service said no. */
export class ServiceError extends Error {
  override readonly name: string = 'ServiceError';
  readonly status: number;
  /** Code of the failure; docs/reference.md lists them all. */
  readonly code: ErrorCode;
  /** Lines of a compiler; empty for other failures. */
  readonly errors: readonly string[];
  /** Result of a launch or a stop on each device; empty for other failures. */
  readonly devices: readonly DeviceOutcome[];
  /** Its operator finds the request in the log by this. */
  readonly requestId: string | undefined;
  /** How long the service wants not to be asked again. */
  readonly retryAfterMs: number | undefined;

  constructor(body: FailureBody, { status, headers }: Pick<Response, 'status' | 'headers'>) {
    super(body.message);
    this.status = status;
    this.code = body.code;
    this.errors = body.errors ?? [];
    this.devices = body.devices ?? [];
    this.requestId = headers.get('x-request-id') ?? undefined;
    const seconds = Number(headers.get('retry-after') ?? Number.NaN);
    this.retryAfterMs = Number.isFinite(seconds) ? seconds * 1000 : undefined;
  }
}

/** Thrown when no answer came. The service may have carried out the request. */
export class ServiceUnreachable extends Error {
  override readonly name: string = 'ServiceUnreachable';
}

/** Thrown when the answer comes from something other than the service: a proxy, or another program at its address. */
export class NotTheService extends Error {
  override readonly name: string = 'NotTheService';
  readonly status: number;
  /** Target of a redirect. */
  readonly location: string | undefined;

  constructor({ status, headers, url }: Pick<Response, 'status' | 'headers' | 'url'>) {
    super(`What answers at ${url} is not a Phalanx service (HTTP status ${status}).`);
    this.status = status;
    this.location = headers.get('location') ?? undefined;
  }
}

const isFailureBody = (body: unknown): body is FailureBody =>
  typeof body === 'object' &&
  body !== null &&
  'code' in body &&
  typeof body.code === 'string' &&
  'message' in body &&
  typeof body.message === 'string';

/** The error for a response without success. */
async function failureOf(response: Response): Promise<ServiceError | NotTheService> {
  const body: unknown = await response.json().catch(() => undefined);
  return isFailureBody(body) ? new ServiceError(body, response) : new NotTheService(response);
}

/** Whether the same may succeed in a moment without anybody doing anything. */
export const isPassing = (error: unknown): boolean =>
  error instanceof ServiceUnreachable ||
  (error instanceof NotTheService && error.status >= 500) ||
  (error instanceof ServiceError && (error.status >= 500 || error.status === 429));
