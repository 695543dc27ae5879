import {
  NotTheService,
  ServiceUnreachable,
  Transport,
  type Inputs as AnyInputs,
} from '@phalanx/client/transport';
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

/** The service said no; the message is the service's own. */
export { ServiceError as ApiRefusal } from '@phalanx/client/transport';

/** Calls the API of a service with a token, by contract, and says in the words of a command why nothing came. */
export class ApiClient {
  readonly #url: string;
  readonly #transport: Transport;

  constructor(url: string, token: string) {
    this.#url = url;
    // A command that waits says so, in `follow/endurance.ts`; the others fail at once.
    this.#transport = new Transport({ url, token, patienceMs: 0 });
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

  async #explain<Result>(asking: Promise<Result>): Promise<Result> {
    try {
      return await asking;
    } catch (error) {
      if (error instanceof ServiceUnreachable) throw unreachable(this.#url, error.cause);
      if (!(error instanceof NotTheService)) throw error;
      throw new ServerUnreachable(
        error.status >= 300 && error.status < 400
          ? `The server at ${this.#url} sends callers to ${error.location ?? 'elsewhere'}: give that address with --server-url or PHALANX_SERVER_URL.`
          : `What answers at ${this.#url} is not a Phalanx server (HTTP status ${error.status}): check the address.`,
      );
    }
  }
}
