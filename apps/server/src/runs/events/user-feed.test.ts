import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { InProcessNetwork } from '../../storage/bus/in-process-network.ts';
import { FaultMonitor } from '../../kernel/faults/fault-monitor.ts';
import { Peers } from '../../storage/nodes/peers.ts';
import { EventBus, type FeedEvent } from './event-bus.ts';
import { EventStream, type EncodedEvent, type FeedReader, type UserFeed, UserFeeds } from './user-feed.ts';

const megabyte = 1024 * 1024;

function openEventBus(): EventBus {
  const bus = new InProcessNetwork().join();
  const peers = new Peers({ bus, nodeId: 'node', listOthers: async () => [] });
  const events = new EventBus({
    bus,
    peers,
    nodeId: 'node',
    faults: new FaultMonitor({ log: pino({ level: 'silent' }) }),
  });
  onTestFinished(() => events.close());
  return events;
}

const eventOf = (data: string): FeedEvent => ({
  type: 'log',
  userId: 'u',
  deviceId: 'd',
  automationId: null,
  data,
  lastId: '',
});

/** Takes all events, or none. */
class Reader implements FeedReader {
  next = 0;
  readonly taken: EncodedEvent[] = [];
  isCutOff = false;
  feed: UserFeed | undefined;
  readonly #isReading: boolean;

  constructor(isReading: boolean) {
    this.#isReading = isReading;
  }

  pump(feed: UserFeed): void {
    this.feed = feed;
    for (let one = feed.at(this.next); this.#isReading && one !== undefined; one = feed.at(this.next)) {
      this.taken.push(one);
      this.next += 1;
    }
  }

  fellBehind(): void {
    this.isCutOff = true;
  }
}

test('what streams do not take is kept once for all of them, to a bound; then they are cut off and others get everything', async () => {
  const bus = openEventBus();
  const feeds = new UserFeeds(bus);
  const stalled = Array.from({ length: 150 }, () => new Reader(false));
  const reading = new Reader(true);
  for (const reader of [...stalled, reading]) await feeds.add('u', reader);
  for (let at = 0; at < 7; at += 1) bus.publish(eventOf(`${at}`.padEnd(megabyte, 'x')));
  expect(stalled.some(({ isCutOff }) => isCutOff)).toBe(false);
  expect(reading.feed?.keptBytes).toBeLessThan(8 * megabyte);
  for (let at = 7; at < 36; at += 1) {
    bus.publish(eventOf(`${at}`.padEnd(megabyte, 'x')));
    expect(reading.feed?.keptBytes).toBeLessThanOrEqual(8 * megabyte);
  }
  expect(stalled.every(({ isCutOff }) => isCutOff)).toBe(true);
  expect(reading.isCutOff).toBe(false);
  expect(reading.taken.map(({ event }) => Number.parseInt(event.data, 10))).toEqual([...Array(36).keys()]);
  expect(reading.feed?.keptBytes).toBe(0);
});

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

test('many small events have a bound too', async () => {
  const bus = openEventBus();
  const stalled = new Reader(false);
  await new UserFeeds(bus).add('u', stalled);
  for (let at = 0; at <= 20_000; at += 1) bus.publish(eventOf('{}'));
  expect(stalled.isCutOff).toBe(true);
});

test('an event is encoded once for all streams of all users', async () => {
  const bus = openEventBus();
  const feeds = new UserFeeds(bus);
  const readers = [new Reader(true), new Reader(true), new Reader(true)];
  for (const [index, reader] of readers.entries()) await feeds.add(index === 2 ? 'v' : 'u', reader);
  for (const userId of ['u', 'v']) bus.publish({ ...eventOf('same'), userId });
  const bytes = new Set(readers.flatMap(({ taken }) => taken.map((one) => one.bytes)));
  expect(bytes.size).toBe(1);
});

test('a user is followed for as long as there is a stream', async () => {
  const bus = openEventBus();
  const feeds = new UserFeeds(bus);
  const leave = await feeds.add('u', new Reader(true));
  const leaveToo = await feeds.add('u', new Reader(true));
  leave();
  expect(bus.isFollowed).toBe(true);
  leaveToo();
  await expect.poll(() => bus.isFollowed).toBe(false);
});
