import type { ReplyOf, RouteContract } from '@phalanx/protocol';
import type { Static, TSchema } from 'typebox';

import { ServerUnreachable, unreachable } from './server-unreachable.ts';

type Body<Contract extends RouteContract> = Contract['body'] extends TSchema
  ? Static<Contract['body']>
  : undefined;
type Query<Contract extends RouteContract> = Contract['query'] extends TSchema
  ? Static<Contract['query']>
  : undefined;
/** What the service answers to a call of this contract. */
export type Reply<Contract extends RouteContract> = ReplyOf<Contract>;

interface Inputs<Contract extends RouteContract> {
  body?: Body<Contract>;
  query?: Query<Contract>;
  params?: Readonly<Record<string, string>>;
}

/** Longer than any launch, and enough to send the largest file over a slow line. */
const timeoutMs = 120_000;

/** The service said no; the message is the service's own. */
export class ApiRefusal extends Error {
  override readonly name = 'ApiRefusal';
  readonly code: string;
  readonly status: number;
  /** Lines of a compiler; empty for other refusals. */
  readonly errors: readonly string[];

  constructor(code: string, message: string, more: { status: number; errors: readonly string[] }) {
    super(message);
    this.code = code;
    this.status = more.status;
    this.errors = more.errors;
  }
}

function pathOf(contract: RouteContract, params: Readonly<Record<string, string>>): string {
  return contract.path.replaceAll(/:(\w+)/g, (_, name: string) => segment(params[name] ?? ''));
}

/** `.` and `..` would vanish from the address, and the call would be another one. */
const segment = (text: string): string =>
  /^\.{1,2}$/.test(text) ? text.replaceAll('.', '%252E') : encodeURIComponent(text);

function queryOf(query: object | undefined): string {
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined);
  return given.length === 0
    ? ''
    : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()}`;
}

function refusalOf(status: number, body: unknown): ApiRefusal {
  const said = typeof body === 'object' && body !== null ? body : {};
  const code = 'code' in said && typeof said.code === 'string' ? said.code : `http_${status}`;
  const message =
    'message' in said && typeof said.message === 'string' ? said.message : `HTTP status ${status}`;
  const lines: unknown[] = 'errors' in said && Array.isArray(said.errors) ? said.errors : [];
  const errors = lines.filter((line) => typeof line === 'string');
  return new ApiRefusal(code, message, { status, errors });
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Calls the API of a service with a token. */
export class ApiClient {
  readonly #url: string;
  readonly #token: string;

  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  /** Throws an `ApiRefusal` when the service says no, and `ServerUnreachable` when nothing of a service answers. */
  async call<Contract extends RouteContract>(
    contract: Contract,
    { body, query, params = {} }: Inputs<Contract> = {},
  ): Promise<Reply<Contract>> {
    const { status, text } = await this.#request(contract, { body, query, params });
    const reply = this.#parse(status, text);
    if (status >= 400) throw refusalOf(status, reply);
    // The contract says what the service of the same release answers.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return reply as Reply<Contract>;
  }

  /** The same for a reply that is not JSON. */
  async text<Contract extends RouteContract>(
    contract: Contract,
    { query, params = {} }: Pick<Inputs<Contract>, 'query' | 'params'>,
  ): Promise<string> {
    const { status, text } = await this.#request(contract, { query, params });
    if (status >= 400) throw refusalOf(status, this.#parse(status, text));
    return text;
  }

  /** The same for a body of any size, which may take its time. */
  async stream<Contract extends RouteContract>(
    contract: Contract,
    { params = {} }: Pick<Inputs<Contract>, 'params'>,
  ): Promise<AsyncIterable<Uint8Array>> {
    const headers = { authorization: `Bearer ${this.#token}` };
    const address = `${this.#url}${pathOf(contract, params)}`;
    const response = await fetch(address, { headers, redirect: 'manual' }).catch((error: unknown) => {
      throw unreachable(this.#url, error);
    });
    if (response.status !== 200)
      throw refusalOf(response.status, this.#parse(response.status, await response.text()));
    return response.body ?? new ReadableStream();
  }

  #request(
    contract: RouteContract,
    {
      body,
      query,
      params,
    }: { body?: unknown; query?: object | undefined; params: Readonly<Record<string, string>> },
  ): Promise<Answer> {
    return this.#send(`${pathOf(contract, params)}${queryOf(query)}`, {
      method: contract.method,
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  async #send(path: string, request: RequestInit): Promise<Answer> {
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      const response = await fetch(`${this.#url}${path}`, { ...request, signal, redirect: 'manual' });
      if (response.status >= 300 && response.status < 400) {
        await response.body?.cancel();
        const to = response.headers.get('location') ?? 'elsewhere';
        throw new ServerUnreachable(
          `The server at ${this.#url} sends callers to ${to}: give that address with --server-url or PHALANX_SERVER_URL.`,
        );
      }
      return { status: response.status, text: await response.text() };
    } catch (error) {
      throw error instanceof ServerUnreachable ? error : unreachable(this.#url, error);
    }
  }

  #parse(status: number, text: string): unknown {
    try {
      return JSON.parse(text);
    } catch {
      throw new ServerUnreachable(
        `What answers at ${this.#url} is not a Phalanx server (HTTP status ${status}): check the address.`,
      );
    }
  }
}
