import { lookup, type LookupAddress } from 'node:dns';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';

import { AddressRefused, isPublicAddress } from './address-policy.ts';

/** A connection that is silent for so long is given up. */
const silenceMs = 300_000;
/** Forbidden by the Fetch standard; a tunnel would also never be answered. */
const tunnelMethods = new Set(['CONNECT', 'TRACE', 'TRACK']);

/** One request to one place, before redirects. */
export interface Exchange {
  url: URL;
  method: string;
  headers: Map<string, string>;
  body: Buffer | undefined;
  signal: AbortSignal;
}

/** Makes a request and gives the response as soon as its head is there. */
export type SendExchange = (exchange: Exchange) => Promise<IncomingMessage>;

export interface Exchanger {
  send: SendExchange;
  /** Ends the connections that are kept open. */
  close(): void;
}

export function createExchanger(allowPrivateAddresses: boolean): Exchanger {
  const settings = { keepAlive: true, ...(allowPrivateAddresses ? {} : { lookup: guardedLookup }) };
  const plain = { request: httpRequest, agent: new HttpAgent(settings) };
  const secure = { request: httpsRequest, agent: new HttpsAgent(settings) };

  const send: SendExchange = async ({ url, method, headers, body, signal }) => {
    if (tunnelMethods.has(method.toUpperCase())) throw new Error(`the method ${method} is not allowed`);
    if (!allowPrivateAddresses) refuseLiteral(url);
    const { request, agent } = url.protocol === 'https:' ? secure : plain;
    const withoutAuth = new URL(url);
    withoutAuth.username = '';
    withoutAuth.password = '';
    return new Promise((resolve, reject) => {
      const outgoing = request(withoutAuth, { method, agent, headers: Object.fromEntries(headers), signal });
      outgoing.setTimeout(silenceMs, () =>
        outgoing.destroy(new Error(`no answer within ${silenceMs / 1000} s`)),
      );
      outgoing.on('response', resolve);
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

/**
 * A `lookup` for connections: the addresses it gives are the ones connected to, so a name cannot change its address
 * between check and use. One forbidden address among several refuses the name.
 */
const guardedLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, []);
    const refused = addresses.find(({ address }) => !isPublicAddress(address));
    if (refused !== undefined) return callback(new AddressRefused(hostname, refused.address), []);
    if (options.all === true) return callback(null, addresses);
    const [first = { address: '', family: 0 }]: LookupAddress[] = addresses;
    return callback(null, first.address, first.family);
  });
};

/** Addresses in the URL itself never come to `lookup`. `URL` has brought all their spellings to one. */
function refuseLiteral({ hostname }: URL): void {
  const host = hostname.replaceAll(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !isPublicAddress(host)) throw new AddressRefused(host, host);
}
