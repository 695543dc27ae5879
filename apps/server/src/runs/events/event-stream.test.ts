import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, test } from 'vitest';
import { EventStream } from './event-stream.ts';
import { eventOf, openEventBus } from './testing/open-event-bus.ts';
import { UserFeeds } from './user-feeds.ts';

const megabyte = 1024 * 1024;

test('a stream that fell behind ends with the reason, and is not complete', async () => {
  const bus = openEventBus();
  const feeds = new UserFeeds(bus);
  const begun = Promise.withResolvers<void>();
  const cutOff = Promise.withResolvers<void>();
  const serve = async (response: ServerResponse): Promise<void> => {
    const stream = new EventStream({
      response,
      expiresAt: Infinity,
      isWanted: () => true,
      onFellBehind: () => cutOff.resolve(),
    });
    await feeds.add('u', stream);
    stream.begin('id');
    begun.resolve();
  };
  const server = createServer((_, response) => void serve(response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connect(port, '127.0.0.1');
  client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  await begun.promise;
  const timer = setInterval(() => bus.publish(eventOf('x'.repeat(megabyte))));
  await cutOff.promise;
  clearInterval(timer);
  let end = '';
  client.on('data', (chunk: Buffer) => (end = `${end}${chunk.toString()}`.slice(-2000)));
  client.on('error', () => undefined);
  await once(client, 'close');
  server.close();
  expect(end).toMatch(/event: error\ndata: \{"success":false,.*"code":"stream_fell_behind".*\}\n\n\r\n$/);
});
