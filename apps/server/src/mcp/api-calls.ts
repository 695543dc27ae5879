import type { ErrorBody, ReplyOf, RouteContract } from '@phalanx/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';

import { calledBy } from '../http/audit-event.ts';

/** The service said no. The message is for whoever called the tool. */
export class ToolFailure extends Error {}

interface Given {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: object;
}

/** The endpoints of this service, as the caller of a tool: with their token, rights and limits. */
export interface ApiCalls {
  call<Contract extends RouteContract>(contract: Contract, given?: Given): Promise<ReplyOf<Contract>>;
  /** Of an endpoint whose replies are no JSON. */
  read(contract: RouteContract, given: Given): Promise<{ readonly type: string; readonly body: Buffer }>;
}

/** Calls go through the whole of the service, so that no rule is written twice. */
export function apiCallsOf(app: FastifyInstance, request: FastifyRequest, client: string): ApiCalls {
  const { authorization = '' } = request.headers;
  const send = async (contract: RouteContract, { params = {}, query = {}, body }: Given) => {
    const path = contract.path.replaceAll(/:(\w+)/g, (_, name: string) => segment(params[name] ?? ''));
    const asked = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    );
    // What `inject` gives begins its work when it is awaited.
    const reply = await calledBy.run(
      { via: 'mcp', client },
      async () =>
        await app.inject({
          method: contract.method,
          url: `${path}?${new URLSearchParams(asked).toString()}`,
          headers: { authorization },
          remoteAddress: request.raw.socket.remoteAddress ?? '127.0.0.1',
          ...(body === undefined ? {} : { payload: body }),
        }),
    );
    if (reply.statusCode < 400) return reply;
    throw new ToolFailure(failureText(reply.body));
  };
  return {
    // What a contract promises, its route has sent.
    call: async (contract, given = {}) => (await send(contract, given)).json<ReplyOf<typeof contract>>(),
    read: async (contract, given) => {
      const { headers, rawPayload: body } = await send(contract, given);
      return { type: headers['content-type']?.toString() ?? '', body };
    },
  };
}

/** `.` and `..` would vanish from the address, and the call would be another one. */
function segment(text: string): string {
  if (/^\.{0,2}$/.test(text)) throw new ToolFailure(`"${text}" is no ID.`);
  return encodeURIComponent(text);
}

const maxErrors = 50;

function failureText(body: string): string {
  try {
    // The service's own.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const { code, message, errors = [] } = JSON.parse(body) as Static<typeof ErrorBody>;
    return [`${code}: ${message}`, ...errors.slice(0, maxErrors)].join('\n');
  } catch {
    return 'The service gave no answer that can be read.';
  }
}
