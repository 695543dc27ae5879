import { Socket } from 'node:net';
import type { FetchOrder } from '@phalanx/automation';

import { encodeFetchFrame, readFetchFrames, type FetchReply } from '../fetch/fetch-frames.ts';

const maxFetches = 64;
/** Maximum size of one piece of a body, in bytes: a piece is what a socket or a decoder returns at once. */
const maxReplyBytes = 16 * 1024 * 1024;
/** File descriptor of the socket to the broker, which the host gives every child. */
const brokerDescriptor = 3;

/** Passes the answer to the isolate: a JSON text, and the body as a byte string. */
type Settle = (id: number, json: string, body: string) => Promise<void>;

const brokerGone = JSON.stringify({
  ok: false,
  message: 'fetch failed: the process that makes requests has ended. Requests work again in a new run.',
});

/**
 * HTTP requests of one run. The broker makes them, because this process has no network. Response bodies are buffered
 * here, so that a large one only costs this run. Each request counts against the limit until its answer is in the
 * isolate.
 */
export function createFetches(settle: Settle) {
  const running = new Map<number, Buffer[]>();
  let broker: Socket | undefined;

  const answer = async (id: number, json: string): Promise<void> => {
    const body = running.get(id);
    // An aborted request was already answered by the abort.
    if (body !== undefined) await settle(id, json, Buffer.concat(body).toString('latin1'));
    running.delete(id);
  };
  const fail = (id: number, json: string): void => {
    // Drops the received part of the body.
    if (running.has(id)) running.set(id, []);
    void answer(id, json);
  };
  const listen = async (socket: Socket): Promise<void> => {
    try {
      for await (const { head, bytes } of readFetchFrames(socket, maxReplyBytes)) {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the broker is trusted
        const reply = JSON.parse(head) as FetchReply;
        if (reply.type === 'body') running.get(reply.id)?.push(bytes);
        else if (reply.type === 'answered') void answer(reply.id, reply.json);
        else fail(reply.id, reply.json);
      }
    } finally {
      for (const id of running.keys()) fail(id, brokerGone);
    }
  };
  const open = (): Socket => {
    const socket = new Socket({ fd: brokerDescriptor, readable: true, writable: true });
    listen(socket).catch(() => socket.destroy());
    return socket;
  };
  return {
    pending: () => running.size,
    start(order: FetchOrder, body: string | undefined): string | undefined {
      if (running.size >= maxFetches) return `Too many requests: at most ${maxFetches} may run at a time.`;
      if (running.has(order.id)) return 'A request with this number runs already.';
      running.set(order.id, []);
      broker ??= open();
      if (broker.destroyed) setImmediate(() => fail(order.id, brokerGone));
      else broker.write(encodeFetchFrame({ type: 'fetch', order }, Buffer.from(body ?? '', 'latin1')));
      return undefined;
    },
    abort(id: number): void {
      if (running.delete(id)) broker?.write(encodeFetchFrame({ type: 'abort', id }));
    },
  };
}
