import { once } from 'node:events';
import { duplexPair } from 'node:stream';
import { serialize } from 'node:v8';
import { expect, test } from 'vitest';

import { MessageStream } from './message-stream.ts';

test('messages come one by one, however they are cut', async () => {
  const [near, far] = duplexPair();
  const bytes: Buffer[] = [];
  far.on('data', (chunk: Buffer) => bytes.push(chunk));
  const sender = new MessageStream(near, 1e6, () => undefined);
  const messages = [{ a: 1 }, 'x'.repeat(1000), [undefined, new Map([[1, 2]])], null];
  for (const message of messages) await new Promise<void>((resolve) => sender.send(message, resolve));
  for (const size of [1, 3, 7, 1000, 100_000]) {
    const [from, to] = duplexPair();
    const received: unknown[] = [];
    const receiver = new MessageStream(to, 1e6, (message) => received.push(message));
    const all = Buffer.concat(bytes);
    for (let at = 0; at < all.length; at += size) from.write(all.subarray(at, at + size));
    await expect.poll(() => received).toEqual(messages);
    expect(receiver.hasFailed).toBe(false);
  }
});

test.each([
  ['is too long', Buffer.from([0xff, 0xff, 0xff, 0xff])],
  ['is none', Buffer.from([0, 0, 0, 2, 1, 2])],
])('what %s ends the stream', async (_, bytes) => {
  const [near, far] = duplexPair();
  const receiver = new MessageStream(far, 1e6, () => expect.unreachable());
  near.write(bytes);
  near.write(serialize(1));
  await once(far, 'close');
  expect(receiver.hasFailed).toBe(true);
});
