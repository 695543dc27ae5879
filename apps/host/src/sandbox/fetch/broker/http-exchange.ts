import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import {
  type AddressRule,
  anywhere,
  guardedLookup,
  isPublicAddress,
  refuseLiteral,
  type Resolve,
} from '@phalanx/egress';

/** Timeout of an idle connection, in milliseconds. */
const silenceMs = 300_000;
/** Methods that the Fetch standard forbids; a tunnel would also never be answered. */
const tunnelMethods = new Set(['CONNECT', 'TRACE', 'TRACK']);

const publicOnly: AddressRule = {
  isAllowed: (address) => isPublicAddress(address),
  refusal: (host) =>
    new Error(
      `fetch to ${host} was refused: automations may only reach public addresses. Whoever runs the host can open local and private ones with the setting PHALANX_ALLOW_PRIVATE_FETCH=true.`,
    ),
};

/** One request to one server, before redirects. */
export interface Exchange {
  url: URL;
  method: string;
  headers: Map<string, string>;
  body: Buffer | undefined;
  signal: AbortSignal;
}

/** Sends a request and resolves with the response as soon as its head has arrived. */
export type SendExchange = (exchange: Exchange) => Promise<IncomingMessage>;

export interface Exchanger {
  send: SendExchange;
  /** Closes the connections that are kept alive. */
  close(): void;
}

/** `resolve` looks up the names of one run. */
export function createExchanger(allowPrivateAddresses: boolean, resolve: Resolve): Exchanger {
  const rule = allowPrivateAddresses ? anywhere : publicOnly;
  const settings = { keepAlive: true, lookup: guardedLookup(rule, resolve) };
  const plain = { request: httpRequest, agent: new HttpAgent(settings) };
  const secure = { request: httpsRequest, agent: new HttpsAgent(settings) };

  const send: SendExchange = async ({ url, method, headers, body, signal }) => {
    if (tunnelMethods.has(method.toUpperCase())) throw new Error(`the method ${method} is not allowed`);
    refuseLiteral(url, rule);
    const { request, agent } = url.protocol === 'https:' ? secure : plain;
    const withoutAuth = new URL(url);
    withoutAuth.username = '';
    withoutAuth.password = '';
    return new Promise((settle, reject) => {
      const outgoing = request(withoutAuth, { method, agent, headers: Object.fromEntries(headers), signal });
      outgoing.setTimeout(silenceMs, () =>
        outgoing.destroy(new Error(`no answer within ${silenceMs / 1000} s`)),
      );
      outgoing.on('response', settle);
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  };
  return {
    send,
    close() {
      plain.agent.destroy();
      secure.agent.destroy();
    },
  };
}
