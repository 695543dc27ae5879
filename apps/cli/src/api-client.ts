import {
  NotTheService,
  ServiceUnreachable,
  Transport,
  type Inputs as AnyInputs,
} from '@phalanx/client/transport';
import { operationsOf, type Operations } from '@phalanx/client/operations';
import { type ReplyOf, type RouteContract, maxPageLimit } from '@phalanx/protocol';
import type { Static, TSchema } from 'typebox';

type Body<Contract extends RouteContract> = Contract['body'] extends TSchema
  ? Static<Contract['body']>
  : undefined;
type Query<Contract extends RouteContract> = Contract['query'] extends TSchema
  ? Static<Contract['query']>
  : undefined;
/** The service's answer to a call of this contract. */
export type Reply<Contract extends RouteContract> = ReplyOf<Contract>;

interface Inputs<Contract extends RouteContract> {
  body?: Body<Contract>;
  query?: Query<Contract>;
  params?: Readonly<Record<string, string>>;
}

/** The service said no; the message is the service's own. */
export { ServiceError as ApiRefusal } from '@phalanx/client/transport';

/** Calls the API of a service with a token, by contract, and says in the words of a command why nothing came. */
export class ApiClient {
  /** The same calls by name, whose failures `explain` puts into words. */
  readonly operations: Operations;
  readonly #url: string;
  readonly #transport: Transport;

  /** Without a token for what anybody may ask. */
  constructor(url: string, token?: string) {
    this.#url = url;
    // A command that waits says so, in `follow/follow-to-end.ts`; the others fail at once.
    this.#transport = new Transport({ url, token, retryForMs: 0 });
    this.operations = operationsOf(this.#transport);
  }

  /** Throws an `ApiRefusal` when the service says no, and `ServerUnreachable` when nothing of a service answers. */
  async call<Contract extends RouteContract>(
    contract: Contract,
    inputs: Inputs<Contract> = {},
  ): Promise<Reply<Contract>> {
    const reply = await this.#explain(this.#transport.json(contract, inputs as AnyInputs));
    // The contract says what the service of the same release answers.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return reply as Reply<Contract>;
  }

  /** The same for a reply that is not JSON. */
  async text<Contract extends RouteContract>(
    contract: Contract,
    inputs: Pick<Inputs<Contract>, 'query' | 'params'>,
  ): Promise<string> {
    const response = await this.#explain(this.#transport.send(contract, inputs as AnyInputs));
    return response.text().catch((error: unknown) => {
      throw unreachable(this.#url, error);
    });
  }

  /** The same for a body of any size, which may take its time. */
  async stream<Contract extends RouteContract>(
    contract: Contract,
    { params = {} }: Pick<Inputs<Contract>, 'params'>,
  ): Promise<AsyncIterable<Uint8Array>> {
    const response = await this.#explain(this.#transport.send(contract, { params }));
    return response.body ?? new ReadableStream();
  }

  /** Passes on what the client gives, with its failures in the words of a command. */
  async *explained<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item, void, undefined> {
    try {
      yield* items;
    } catch (error) {
      throw this.explain(error);
    }
  }

  /** A failure of the client in the words of a command. */
  explain(error: unknown): Error {
    if (error instanceof ServiceUnreachable) return unreachable(this.#url, error.cause ?? error);
    if (!(error instanceof NotTheService)) return error instanceof Error ? error : new Error(String(error));
    return new ServerUnreachable(
      error.status >= 300 && error.status < 400
        ? `The server at ${this.#url} sends callers to ${error.location ?? 'elsewhere'}: give that address with --server-url or PHALANX_SERVER_URL.`
        : `What answers at ${this.#url} is not a Phalanx server (HTTP status ${error.status}): check the address.`,
    );
  }

  async #explain<Result>(asking: Promise<Result>): Promise<Result> {
    try {
      return await asking;
    } catch (error) {
      throw this.explain(error);
    }
  }
}

/** Nothing that is a Phalanx server answered; the message says at which address, and what to do. */
export class ServerUnreachable extends Error {
  override readonly name = 'ServerUnreachable';
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no such name',
  EAI_AGAIN: 'its name cannot be looked up now',
  ECONNRESET: 'the connection broke',
  UND_ERR_SOCKET: 'the connection broke',
  ETIMEDOUT: 'it does not answer',
  UND_ERR_CONNECT_TIMEOUT: 'it does not answer',
  TimeoutError: 'it does not answer',
  EHOSTUNREACH: 'there is no way to it',
  ENETUNREACH: 'there is no way to it',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it speaks http, not https',
  HPE_INVALID_CONSTANT: 'what answers does not speak HTTP',
};

/** `fetch` hides why it failed in causes, and with several addresses in a list of errors. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if (error.name === 'TimeoutError') return error.name;
  if ('code' in error && typeof error.code === 'string') return error.code;
  if (error.cause !== undefined) return codeOf(error.cause);
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  return error.message;
}

function unreachable(url: string, error: unknown): ServerUnreachable {
  const code = codeOf(error);
  const reason = reasons[code] ?? code;
  return new ServerUnreachable(
    `The server at ${url} cannot be reached (${reason}): start it, or give its address with --server-url or PHALANX_SERVER_URL.`,
  );
}

interface PageQuery {
  limit: number;
  cursor?: string;
}

/** Reads the items of all pages of a list. */
export async function readAll<Page extends { next_cursor: string | null }, Item>(
  readPage: (query: PageQuery) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
): Promise<Item[]> {
  const items: Item[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await readPage({ limit: maxPageLimit, ...(cursor === undefined ? {} : { cursor }) });
    items.push(...itemsOf(page));
    cursor = page.next_cursor;
  }
  return items;
}
