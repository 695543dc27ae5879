import type { FetchOrder } from '@phalanx/automation';
import type { IncomingMessage } from 'node:http';

import type { Exchange, SendExchange } from './http-exchange.ts';
import { withoutContent, withoutCredentials } from './request-headers.ts';

const maxRedirects = 20;
const redirectStatuses = new Set([301, 302, 303, 307, 308]);

export interface Arrived {
  response: IncomingMessage;
  url: URL;
  redirected: boolean;
}

/** Sends the exchange and follows where it is sent to, by the rules of the Fetch standard. */
export async function follow(
  send: SendExchange,
  first: Exchange,
  redirect: FetchOrder['redirect'],
): Promise<Arrived> {
  let exchange = first;
  for (let redirects = 0; ; redirects += 1) {
    onlyHttp(exchange.url);
    const response = await send(exchange);
    const target = redirect === 'manual' ? undefined : targetOf(response, exchange.url);
    if (target === undefined) return { response, url: exchange.url, redirected: redirects > 0 };
    response.resume(); // Frees the connection for the next request.
    if (redirect === 'error') throw new Error(`unexpected redirect to ${target.href}`);
    if (redirects === maxRedirects) throw new Error(`more than ${maxRedirects} redirects`);
    exchange = redirectedTo(target, exchange, response.statusCode ?? 0);
  }
}

function onlyHttp({ protocol }: URL): void {
  if (protocol !== 'http:' && protocol !== 'https:')
    throw new Error(`fetch speaks http and https, not ${protocol.replace(':', '')}`);
}

function targetOf({ statusCode = 0, headers }: IncomingMessage, base: URL): URL | undefined {
  if (!redirectStatuses.has(statusCode) || headers.location === undefined) return undefined;
  const target = URL.parse(headers.location, base);
  if (target === null) throw new Error(`the redirect names no URL: ${headers.location}`);
  return target;
}

function redirectedTo(url: URL, last: Exchange, status: number): Exchange {
  const headers = url.origin === last.url.origin ? last.headers : withoutCredentials(last.headers);
  const becomesGet =
    (status === 303 && last.method !== 'HEAD' && last.method !== 'GET') ||
    ((status === 301 || status === 302) && last.method === 'POST');
  if (!becomesGet) return { ...last, url, headers };
  return { ...last, url, method: 'GET', body: undefined, headers: withoutContent(headers) };
}
