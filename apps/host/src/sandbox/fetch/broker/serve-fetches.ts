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
import { createExchanger, type SendExchange } from './http-exchange.ts';
import { follow } from './redirects.ts';
import { requestHeaders } from './request-headers.ts';

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

/** What a sandbox process says may be the word of hostile code that has taken it over. Throws when it does not fit. */
const parseFetchRequest = (head: string): FetchRequest => requests.Parse(JSON.parse(head));

/** After decompression: the sandbox process holds all of it, and the isolate as text. */
const maxBodyBytes = 50 * 1024 * 1024;

const decoders: Record<string, (() => Duplex) | undefined> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Hands the decompressed body to `take`, piece by piece. Rejects when it is larger than a body may be. */
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

/** A decoder that gets no byte at all would fail. */
function mayHaveBody({ statusCode, headers, req }: IncomingMessage & { req?: { method: string } }): boolean {
  return (
    req?.method !== 'HEAD' && statusCode !== 204 && statusCode !== 304 && headers['content-length'] !== '0'
  );
}
