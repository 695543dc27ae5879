import { Socket } from 'node:net';
import type { FetchOrder } from '@phalanx/automation';

import { encodeFetchFrame, readFetchFrames, type FetchReply } from '../fetch/fetch-frames.ts';

const maxFetches = 64;
/** A piece of a body is as large as what a socket or a decoder gives at once. */
const maxReplyBytes = 16 * 1024 * 1024;
/** The host gives every child a socket whose other end the broker has. */
const brokerDescriptor = 3;

/** Brings the answer into the isolate: a JSON text, and the body as a string of bytes. */
type Settle = (id: number, json: string, body: string) => Promise<void>;

const brokerGone = JSON.stringify({
  ok: false,
  message: 'fetch failed: the process that makes requests has ended. Requests work again in a new run.',
});

/**
 * The HTTP requests of one run. The broker makes them, because this process has no network; the bodies of answers are
 * held here, so a large one costs this run alone. Each counts against the limit until its answer is in the isolate.
 */
export function createFetches(settle: Settle) {
  const running = new Map<number, Buffer[]>();
  let broker: Socket | undefined;

  const answer = async (id: number, json: string): Promise<void> => {
    const body = running.get(id);
    // An aborted request was answered by the abort.
    if (body !== undefined) await settle(id, json, Buffer.concat(body).toString('latin1'));
    running.delete(id);
  };
  const fail = (id: number, json: string): void => {
    // Drops the part of the body that has come.
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
