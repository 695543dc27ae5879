import type { RouteContract } from '@phalanx/protocol';
import type { Static, TSchema } from 'typebox';

type Body<Contract extends RouteContract> = Contract['body'] extends TSchema
  ? Static<Contract['body']>
  : undefined;
type Query<Contract extends RouteContract> = Contract['query'] extends TSchema
  ? Static<Contract['query']>
  : undefined;
type Reply<Contract extends RouteContract> = {
  [Status in keyof Contract['responses']]: Contract['responses'][Status] extends TSchema
    ? Static<Contract['responses'][Status]>
    : never;
}[keyof Contract['responses']];

interface Inputs<Contract extends RouteContract> {
  body?: Body<Contract>;
  query?: Query<Contract>;
  params?: Readonly<Record<string, string>>;
}

/** The service said no; the message is the service's own. */
export class ApiRefusal extends Error {
  override readonly name = 'ApiRefusal';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

function pathOf(contract: RouteContract, params: Readonly<Record<string, string>>): string {
  return contract.path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
}

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
  return new ApiRefusal(code, message);
}

/** Calls the API of a service with a token. */
export class ApiClient {
  readonly #url: string;
  readonly #token: string;

  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  /** Throws an `ApiRefusal` when the service says no. */
  async call<Contract extends RouteContract>(
    contract: Contract,
    { body, query, params = {} }: Inputs<Contract> = {},
  ): Promise<Reply<Contract>> {
    const response = await fetch(`${this.#url}${pathOf(contract, params)}${queryOf(query)}`, {
      method: contract.method,
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const reply: unknown = await response.json();
    if (!response.ok) throw refusalOf(response.status, reply);
    // The contract says what the service of the same release answers.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return reply as Reply<Contract>;
  }
}
