import type { RouteContract } from '@phalanx/protocol';

import { addressOf } from './address.ts';
import type { CallOptions, Endpoint, Inputs } from './call.ts';
import type { AnswerOf, CallArguments } from './contract-types.ts';
import { retried } from './retry.ts';
import { failureOf, NotTheService, ServiceUnreachable, unreachable } from './service-errors.ts';

export interface ClientOptions {
  /** Base address, such as `https://phones.example.com`; empty in a page of the service itself. */
  readonly url: string;
  /** API token. Without one, the session cookie of a browser is used. */
  readonly token?: string | undefined;
  /** Time for retries while the service is unreachable or too busy, in milliseconds; 0 disables retries. */
  readonly retryForMs?: number | undefined;
}

/**
 * Timeout of a call, in milliseconds: longer than any launch, and enough to upload the largest file over a slow line.
 */
const defaultTimeoutMs = 120_000;
const defaultRetryForMs = 60_000;

/** Calls the endpoints of one service. */
export class ApiClient {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #retryForMs: number;

  constructor({ url, token, retryForMs = defaultRetryForMs }: ClientOptions) {
    // JavaScript callers can pass an unset variable. An empty URL would mean the URL of the current page.
    if (typeof url !== 'string')
      throw new TypeError(
        'The client needs `url`, the address of the service, such as http://127.0.0.1:8080.',
      );
    this.#url = url.replace(/\/+$/, '');
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    this.#retryForMs = retryForMs;
  }

  /**
   * Returns the JSON of the response, or the whole response of an endpoint with another body. Throws `ServiceError` for
   * a refusal, `ServiceUnreachable` without a response, and `NotTheService` for a response of something else.
   */
  async call<Contract extends RouteContract>(
    contract: Contract,
    ...[input, options]: CallArguments<Contract>
  ): Promise<AnswerOf<Contract>> {
    // The service builds its responses from the same contract.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return (await this.answer(contract, input as Inputs | undefined, options)) as AnswerOf<Contract>;
  }

  /** Returns what `call` returns, for an endpoint whose types are unknown. */
  async answer(endpoint: Endpoint, inputs?: Inputs, options?: CallOptions): Promise<unknown> {
    if (!isJson(endpoint)) return this.send(endpoint, inputs, options);
    return (await this.json(endpoint, inputs, options)).body;
  }

  /** Returns the JSON of a successful response, and its headers. */
  async json(
    endpoint: Endpoint,
    inputs?: Inputs,
    options?: CallOptions,
  ): Promise<{ body: unknown; headers: Headers }> {
    const { text, response } = await this.#whole(endpoint, inputs, options);
    try {
      return { body: JSON.parse(text) as unknown, headers: response.headers };
    } catch {
      throw new NotTheService(this.#url, response);
    }
  }

  /** Returns the text of a successful response. */
  async text(endpoint: Endpoint, inputs?: Inputs, options?: CallOptions): Promise<string> {
    return (await this.#whole(endpoint, inputs, options)).text;
  }

  /** Returns a successful response, whatever its body is; 304 counts as successful. */
  send(endpoint: Endpoint, inputs: Inputs = {}, options: CallOptions = {}): Promise<Response> {
    return this.#retried(endpoint, inputs, options, (response) => response);
  }

  #whole(
    endpoint: Endpoint,
    inputs: Inputs = {},
    options: CallOptions = {},
  ): Promise<{ text: string; response: Response }> {
    return this.#retried(endpoint, inputs, options, async (response) => {
      const text = await response.text().catch((error: unknown) => {
        options.signal?.throwIfAborted();
        throw unreachable(this.#url, error);
      });
      return { text, response };
    });
  }

  #retried<Result>(
    endpoint: Endpoint,
    inputs: Inputs,
    options: CallOptions,
    read: (response: Response) => Result | Promise<Result>,
  ): Promise<Result> {
    const attempt = async (): Promise<Result> => {
      const { signal, end } = deadline(options);
      try {
        return await read(await this.#send(endpoint, inputs, signal));
      } finally {
        end();
      }
    };
    const {
      isIdempotent = endpoint.method === 'GET' || isKeyed(inputs.body),
      retryForMs: forMs = this.#retryForMs,
      signal,
    } = options;
    return retried(attempt, { isIdempotent, forMs, signal });
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
      if (signal.aborted) throw error;
      throw unreachable(this.#url, error);
    });
    if (response.ok || response.status === 304) return response;
    if (response.status < 400) {
      await response.body?.cancel();
      throw new NotTheService(this.#url, response);
    }
    throw await failureOf(this.#url, response);
  }
}

const isJson = ({ responses }: Endpoint): boolean =>
  responses === undefined || Object.values(responses).some((answer) => !Array.isArray(answer));

/** Whether the body is a launch with the caller's own ID, which makes it idempotent. */
const isKeyed = (body: unknown): boolean => typeof body === 'object' && body !== null && 'launch_id' in body;

/**
 * Returns a signal that combines the caller's signal and the timeout. `end` disables the timeout, for a body that may
 * take any time.
 */
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

function bodyOf(
  { bodyTypes }: Endpoint,
  body: unknown,
): { body?: BodyInit; type: Readonly<Record<string, string>> } {
  if (body === undefined) return { type: {} };
  const [type] = bodyTypes ?? [];
  if (type === undefined) return { body: JSON.stringify(body), type: { 'content-type': 'application/json' } };
  // The types of the contracts allow nothing else.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { body: body as BodyInit, type: { 'content-type': type } };
}
