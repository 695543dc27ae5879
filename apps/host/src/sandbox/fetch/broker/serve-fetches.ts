import type { NameResolver } from '@phalanx/egress';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import type { Duplex } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { FetchHead, FetchOrder } from '@phalanx/automation';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

import { encodeFetchFrame, readFetchFrames, type FetchRequest } from '../fetch-frames.ts';
import { createExchanger, type SendExchange, type Exchange } from './http-exchange.ts';

/** Maximum number of concurrent requests of one run. The sandbox process enforces the same limit. */
const maxFetches = 64;
/** Maximum size of request bodies in flight of one run, in bytes. */
const maxHeldBytes = 64 * 1024 * 1024;

const maxRedirects = 20;
const redirectStatuses = new Set([301, 302, 303, 307, 308]);

/** Headers that belong to the connection and that the client sets. The values of user code are dropped. */
const forbidden = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
const ofContent = ['content-type', 'content-encoding', 'content-language', 'content-location'];
const ofCredentials = ['authorization', 'cookie', 'proxy-authorization'];

interface UnderWay {
  controller: AbortController;
  heldBytes: number;
}

/** Makes the HTTP requests of one run until its socket closes. A slow run only delays itself. */
export async function serveFetches(
  socket: Socket,
  { allowPrivateAddresses, resolver }: { allowPrivateAddresses: boolean; resolver: NameResolver },
): Promise<void> {
  const exchanger = createExchanger(allowPrivateAddresses, resolver.of(socket));
  const underWay = new Map<number, UnderWay>();
  const start = async (order: FetchOrder, body: Buffer): Promise<void> => {
    const entry = { controller: new AbortController(), heldBytes: body.length };
    const refusal = refusalOf(underWay, order.id, body.length);
    if (refusal !== undefined) return reply(socket, order.id, failed(refusal));
    underWay.set(order.id, entry);
    const exchanged = { order, body, signal: entry.controller.signal, socket };
    const outcome = await exchangeOnce(exchanger.send, exchanged).catch(failed);
    // An aborted request expects no answer, and its number may be in use by another request.
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
    // Cuts off a peer that violates the protocol; the requests of its run fail.
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
  /** Socket to which the response body is sent. */
  socket: Socket;
}

interface Outcome {
  type: 'answered' | 'failed';
  json: string;
}

const reply = (socket: Socket, id: number, outcome: Outcome): void =>
  void socket.write(encodeFetchFrame({ id, ...outcome }));

/** Makes one request, forwards the response body, and returns the answer. */
async function exchangeOnce(
  send: SendExchange,
  { order, body, signal, socket }: Exchanged,
): Promise<Outcome> {
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

/** Returns the message of an error. With several tried addresses, Node's error has no message of its own. */
function messageOf(error: unknown): string {
  const cause: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const text = cause instanceof Error ? cause.message : String(cause);
  return text.startsWith('fetch ') ? text : `fetch failed: ${text}`;
}

const id = Type.Integer({ minimum: 1 });
const order = Type.Object({
  id,
  url: Type.String(),
  method: Type.String({ pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$" }),
  headers: Type.Array(Type.Tuple([Type.String(), Type.String()])),
  hasBody: Type.Boolean(),
  redirect: Type.Union([Type.Literal('follow'), Type.Literal('manual'), Type.Literal('error')]),
});

const requests = Compile(
  Type.Union([
    Type.Object({ type: Type.Literal('fetch'), order }),
    Type.Object({ type: Type.Literal('abort'), id }),
  ]),
);

/** Parses a request of a sandbox process, which hostile code may have compromised. Throws when it is invalid. */
const parseFetchRequest = (head: string): FetchRequest => requests.Parse(JSON.parse(head));

/**
 * Maximum size of a body after decompression, in bytes: the sandbox process buffers all of it, and the isolate holds it
 * as text.
 */
const maxBodyBytes = 50 * 1024 * 1024;

const decoders: Record<string, (() => Duplex) | undefined> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Passes the decompressed body to `take` in pieces. Rejects when it exceeds the maximum size. */
async function readBody(response: IncomingMessage, take: (piece: Buffer) => Promise<void>): Promise<void> {
  const collect = async (source: AsyncIterable<Buffer>): Promise<void> => {
    let sizeBytes = 0;
    for await (const piece of source) {
      sizeBytes += piece.length;
      if (sizeBytes > maxBodyBytes)
        throw new Error(`the response is larger than ${maxBodyBytes / 1024 / 1024} MB, the limit of fetch`);
      await take(piece);
    }
  };
  const createDecoder = decoders[response.headers['content-encoding']?.toLowerCase() ?? ''];
  if (createDecoder === undefined || !mayHaveBody(response)) await pipeline(response, collect);
  else await pipeline(response, createDecoder(), collect);
}

/** Whether the response may have a body. A decoder that gets no byte at all would fail. */
function mayHaveBody({ statusCode, headers, req }: IncomingMessage & { req?: { method: string } }): boolean {
  return (
    req?.method !== 'HEAD' && statusCode !== 204 && statusCode !== 304 && headers['content-length'] !== '0'
  );
}

interface Arrived {
  response: IncomingMessage;
  url: URL;
  redirected: boolean;
}

/** Sends the request and follows its redirects, by the rules of the Fetch standard. */
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

function requestHeaders({ headers }: FetchOrder): Map<string, string> {
  const named = headers.map(([name, value]): [string, string] => [name.toLowerCase(), value]);
  const own = named.filter(([name]) => !forbidden.has(name) && !name.startsWith('proxy-'));
  return new Map([
    ['accept', '*/*'],
    ['accept-encoding', 'gzip, deflate, br'],
    ['user-agent', 'phalanx'],
    ...own,
  ]);
}

/** Drops the headers about the body, because a redirect that turns a request into GET drops the body. */
function withoutContent(headers: Map<string, string>): Map<string, string> {
  return without(headers, ofContent);
}

/** Drops the credentials, because another origin must not get those of the first one. */
function withoutCredentials(headers: Map<string, string>): Map<string, string> {
  return without(headers, ofCredentials);
}

function without(headers: Map<string, string>, names: string[]): Map<string, string> {
  return new Map([...headers].filter(([name]) => !names.includes(name)));
}
