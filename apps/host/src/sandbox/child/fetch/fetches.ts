import type { FetchHead, FetchOrder } from '@phalanx/automation';

import { createExchanger, type SendExchange } from './http-exchange.ts';
import { follow } from './redirects.ts';
import { requestHeaders } from './request-headers.ts';
import { readBody } from './response-body.ts';

const maxFetches = 64;

/** Brings the answer into the isolate: a JSON text, and the body as a string of bytes. */
type Settle = (id: number, json: string, body: string) => Promise<void>;

/**
 * The HTTP requests of one run. They are made here, so a large or slow one costs this run alone. Each counts against
 * the limit until its answer is in the isolate.
 */
export function createFetches(allowPrivateAddresses: boolean, settle: Settle) {
  const send = createExchanger(allowPrivateAddresses);
  const running = new Map<number, AbortController>();

  const run = async (order: FetchOrder, body: string | undefined, signal: AbortSignal): Promise<void> => {
    const answer = await exchange(send, order, { body, signal });
    // An aborted request was answered by the abort.
    if (running.has(order.id)) await settle(order.id, ...answer);
    running.delete(order.id);
  };
  return {
    pending: () => running.size,
    start(order: FetchOrder, body: string | undefined): string | undefined {
      if (running.size >= maxFetches) return `Too many requests: at most ${maxFetches} may run at a time.`;
      const controller = new AbortController();
      running.set(order.id, controller);
      void run(order, body, controller.signal);
      return undefined;
    },
    abort(id: number): void {
      running.get(id)?.abort();
      running.delete(id);
    },
  };
}

async function exchange(
  send: SendExchange,
  order: FetchOrder,
  { body, signal }: { body: string | undefined; signal: AbortSignal },
): Promise<[json: string, body: string]> {
  try {
    const first = {
      url: new URL(order.url),
      method: order.method,
      headers: requestHeaders(order),
      body: body === undefined ? undefined : Buffer.from(body, 'latin1'),
      signal,
    };
    const { response, url, redirected } = await follow(send, first, order.redirect);
    const bytes = await readBody(response);
    const head: FetchHead = {
      url: url.href,
      status: response.statusCode ?? 0,
      statusText: response.statusMessage ?? '',
      headers: pairsOf(response.rawHeaders),
      redirected,
    };
    return [JSON.stringify({ ok: true, head }), bytes.toString('latin1')];
  } catch (error) {
    return [JSON.stringify({ ok: false, message: messageOf(error) }), ''];
  }
}

function pairsOf(rawHeaders: string[]): [string, string][] {
  return rawHeaders.flatMap((name, index) => {
    const value = rawHeaders[index + 1];
    return index % 2 === 0 && value !== undefined ? [[name, value] satisfies [string, string]] : [];
  });
}

/** Node tells of several tried addresses with an error that has no message of its own. */
function messageOf(error: unknown): string {
  const cause: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const text = cause instanceof Error ? cause.message : String(cause);
  return text.startsWith('fetch ') ? text : `fetch failed: ${text}`;
}
