import { expect, test } from 'vitest';
import { eventOf, openEventBus } from './testing/open-event-bus.ts';
import type { EncodedEvent, FeedReader, UserFeed } from './user-feed.ts';
import { UserFeeds } from './user-feeds.ts';

const megabyte = 1024 * 1024;

/** Takes every event, or none if it is not reading. */
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
