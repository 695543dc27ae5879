import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FetchHead, FetchOrder } from '@phalanx/automation';

import { encodeFetchFrame, readFetchFrames } from '../fetch-frames.ts';
import { parseFetchRequest } from './fetch-request.ts';
import { createExchanger, type SendExchange } from './http-exchange.ts';
import { follow } from './redirects.ts';
import { requestHeaders } from './request-headers.ts';
import { readBody } from './response-body.ts';

/** Requests of one run at a time; the sandbox process refuses more by itself. */
const maxFetches = 64;
/** Bodies of requests that are under way, of one run. */
const maxHeldBytes = 64 * 1024 * 1024;

interface UnderWay {
  controller: AbortController;
  heldBytes: number;
}

/** Makes the HTTP requests of one run, until its socket closes. A slow one waits for nobody but its run. */
export async function serveFetches(socket: Socket, allowPrivateAddresses: boolean): Promise<void> {
  const exchanger = createExchanger(allowPrivateAddresses);
  const underWay = new Map<number, UnderWay>();
  const start = async (order: FetchOrder, body: Buffer): Promise<void> => {
    const entry = { controller: new AbortController(), heldBytes: body.length };
    const refusal = refusalOf(underWay, order.id, body.length);
    if (refusal !== undefined) return reply(socket, order.id, failed(refusal));
    underWay.set(order.id, entry);
    const exchanged = { order, body, signal: entry.controller.signal, socket };
    const outcome = await exchange(exchanger.send, exchanged).catch(failed);
    // An aborted request waits for no answer, and its number may belong to another one.
    if (underWay.get(order.id) !== entry) return;
    underWay.delete(order.id);
    reply(socket, order.id, outcome);
  };
  try {
    for await (const { head, bytes } of readFetchFrames(socket, maxHeldBytes)) {
      const request = parseFetchRequest(head);
      if (request.type === 'fetch') void start(request.order, bytes);
      else abort(underWay, request.id);
    }
  } catch {
    // What does not speak the protocol is cut off; its run sees that its requests fail.
  } finally {
    for (const id of [...underWay.keys()]) abort(underWay, id);
    exchanger.close();
    socket.destroy();
  }
}

function refusalOf(underWay: Map<number, UnderWay>, id: number, bodyBytes: number): Error | undefined {
  const held = [...underWay.values()].reduce((sum, { heldBytes }) => sum + heldBytes, bodyBytes);
  if (underWay.has(id) || underWay.size >= maxFetches) return new Error('too many requests at a time');
  if (held > maxHeldBytes) return new Error('the bodies of the requests under way are too large');
  return undefined;
}

function abort(underWay: Map<number, UnderWay>, id: number): void {
  underWay.get(id)?.controller.abort();
  underWay.delete(id);
}

interface Exchanged {
  order: FetchOrder;
  body: Buffer;
  signal: AbortSignal;
  /** Where the response's body goes. */
  socket: Socket;
}

interface Outcome {
  type: 'answered' | 'failed';
  json: string;
}

const reply = (socket: Socket, id: number, outcome: Outcome): void =>
  void socket.write(encodeFetchFrame({ id, ...outcome }));

/** The answer, after the body was passed on. */
async function exchange(send: SendExchange, { order, body, signal, socket }: Exchanged): Promise<Outcome> {
  const first = {
    url: new URL(order.url),
    method: order.method,
    headers: requestHeaders(order),
    body: order.hasBody ? body : undefined,
    signal,
  };
  const { response, url, redirected } = await follow(send, first, order.redirect);
  await readBody(response, async (piece) => {
    if (socket.destroyed) throw new Error('the run has ended');
    const hasRoom = socket.write(encodeFetchFrame({ type: 'body', id: order.id }, piece));
    if (!hasRoom) await once(socket, 'drain', { signal });
  });
  return { type: 'answered', json: JSON.stringify({ ok: true, head: headOf(response, url, redirected) }) };
}

const headOf = (response: IncomingMessage, url: URL, redirected: boolean): FetchHead => ({
  url: url.href,
  status: response.statusCode ?? 0,
  statusText: response.statusMessage ?? '',
  headers: pairsOf(response.rawHeaders),
  redirected,
});

function pairsOf(rawHeaders: string[]): [string, string][] {
  return rawHeaders.flatMap((name, index) => {
    const value = rawHeaders[index + 1];
    return index % 2 === 0 && value !== undefined ? [[name, value] satisfies [string, string]] : [];
  });
}

const failed = (error: unknown): Outcome => ({
  type: 'failed',
  json: JSON.stringify({ ok: false, message: messageOf(error) }),
});

/** Node tells of several tried addresses with an error that has no message of its own. */
function messageOf(error: unknown): string {
  const cause: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const text = cause instanceof Error ? cause.message : String(cause);
  return text.startsWith('fetch ') ? text : `fetch failed: ${text}`;
}
