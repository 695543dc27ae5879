import type { ServerResponse } from 'node:http';

import type { EventBus, FeedEvent } from './event-bus.ts';
import { ApiError, errorBody } from '../../kernel/errors/api-error.ts';
import type { OpenStream } from '../../http/requests/sockets/open-streams.ts';

/** Maximum backlog of one user's events, for streams that are slow to take them. */
const maxKept = { bytes: 8 * 1024 * 1024, events: 20_000 };

/** An event with the bytes that all streams send. */
export interface EncodedEvent {
  readonly event: FeedEvent;
  readonly bytes: Buffer;
}

/** A reader of a feed. */
export interface FeedReader {
  /** Number of the event that it takes next. */
  next: number;
  /** Takes what it can of the feed, from `next` on. */
  pump(feed: UserFeed): void;
  /** Events that it has not taken are gone. */
  fellBehind(): void;
}

/**
 * The newest events of one user, each encoded once. Streams read on from their own place, so a stream that does not take
 * its events holds none of them, and is cut off when its place is gone.
 */
export class UserFeed {
  readonly #events: EncodedEvent[] = [];
  readonly #readers = new Set<FeedReader>();
  /** Number of the first event that is kept. */
  #first = 0;
  #bytes = 0;

  get size(): number {
    return this.#readers.size;
  }

  /** Bytes that are kept for readers. */
  get keptBytes(): number {
    return this.#bytes;
  }

  /** Number of the event that comes next. */
  get end(): number {
    return this.#first + this.#events.length;
  }

  /** Event of a number; undefined: there is no such event yet. */
  at(number: number): EncodedEvent | undefined {
    return this.#events[number - this.#first];
  }

  add(reader: FeedReader): void {
    reader.next = this.end;
    this.#readers.add(reader);
  }

  remove(reader: FeedReader): void {
    this.#readers.delete(reader);
    this.forgetTaken();
  }

  publish(encoded: EncodedEvent): void {
    this.#events.push(encoded);
    this.#bytes += encoded.bytes.length;
    for (const reader of this.#readers) reader.pump(this);
    this.forgetTaken();
    this.#cutOff();
  }

  /** Drops the events that every reader has taken. */
  forgetTaken(): void {
    let least = this.end;
    for (const { next } of this.#readers) least = Math.min(least, next);
    this.#drop(least - this.#first);
  }

  /** Drops the oldest events beyond the bound, and the readers that have not taken them. One event may be larger. */
  #cutOff(): void {
    let [count, bytes] = [0, this.#bytes];
    while (this.#events.length - count > 1) {
      if (bytes <= maxKept.bytes && this.#events.length - count <= maxKept.events) break;
      bytes -= this.#events[count]?.bytes.length ?? 0;
      count += 1;
    }
    this.#drop(count);
    for (const reader of this.#readers) {
      if (reader.next >= this.#first) continue;
      this.#readers.delete(reader);
      reader.fellBehind();
    }
  }

  #drop(count: number): void {
    for (const { bytes } of this.#events.splice(0, count)) this.#bytes -= bytes.length;
    this.#first += count;
  }
}

/** Server-sent events: HTML standard, section 9.2. */
function encode({ type, data, lastId }: FeedEvent): Buffer {
  const id = lastId === '' ? '' : `id: ${lastId}\n`;
  return Buffer.from(`${id}event: ${type}\ndata: ${data}\n\n`);
}

interface Opened {
  readonly feed: UserFeed;
  /** Resolves with the function that ends the subscription. */
  readonly subscribed: Promise<() => void>;
  readers: number;
}

/** The feeds of users who follow. */
export class UserFeeds {
  readonly #bus: EventBus;
  readonly #feeds = new Map<string, Opened>();
  #last: EncodedEvent | undefined;

  constructor(bus: EventBus) {
    this.#bus = bus;
  }

  /**
   * Adds a reader that gets all events that are published after the promise resolves. Resolves with the function that
   * removes the reader.
   */
  async add(userId: string, reader: FeedReader): Promise<() => void> {
    const opened = this.#feeds.get(userId) ?? this.#open(userId);
    opened.readers += 1;
    const leave = (): void => {
      opened.feed.remove(reader);
      opened.readers -= 1;
      if (opened.readers > 0) return;
      this.#feeds.delete(userId);
      opened.subscribed.then(
        (end) => end(),
        () => undefined,
      );
    };
    try {
      await opened.subscribed;
    } catch (error) {
      leave();
      throw error;
    }
    opened.feed.add(reader);
    return leave;
  }

  #open(userId: string): Opened {
    const feed = new UserFeed();
    const subscribed = this.#bus.subscribe(userId, (event) => feed.publish(this.#encode(event)));
    const opened = { feed, subscribed, readers: 0 };
    this.#feeds.set(userId, opened);
    return opened;
  }

  /** Encodes an event. The users who may see it are told one after the other, so its bytes are used again. */
  #encode(event: FeedEvent): EncodedEvent {
    const { type, lastId, data } = this.#last?.event ?? {};
    const isSame = type === event.type && lastId === event.lastId && data === event.data;
    const bytes = (isSame ? this.#last?.bytes : undefined) ?? encode(event);
    this.#last = { event, bytes };
    return this.#last;
  }
}

const keepAliveMs = 15_000;
/** Timeout of a stream that was cut off, for the data on its way and the reason at its end. */
const farewellMs = 5000;

interface StreamOptions {
  readonly response: ServerResponse;
  /** Expiry of the reader's token, epoch ms. */
  readonly expiresAt: number;
  readonly isWanted: (event: FeedEvent) => boolean;
  /** Called when the reader did not take its events. */
  readonly onFellBehind: () => void;
}

/** Writes the events of a feed to one response, no faster than the response takes them, until either side ends it. */
export class EventStream implements OpenStream, FeedReader {
  readonly expiresAt: number;
  next = 0;
  readonly #options: StreamOptions;
  readonly #response: ServerResponse;
  #keepAlive: NodeJS.Timeout | undefined;
  #isBlocked = false;

  constructor(options: StreamOptions) {
    this.#options = options;
    this.expiresAt = options.expiresAt;
    this.#response = options.response;
    this.#response.on('close', () => clearInterval(this.#keepAlive));
    this.#response.on('error', () => this.#response.destroy());
  }

  /** Begins the response. Events that were published before are not sent. */
  begin(requestId: string): void {
    if (this.#response.destroyed) return;
    this.#response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
      'x-request-id': requestId,
    });
    // A first byte, so that proxies and clients see the stream begin.
    this.#response.write(': connected\n\n');
    this.#keepAlive = setInterval(() => {
      if (!this.#isBlocked) this.#response.write(':\n\n');
    }, keepAliveMs);
  }

  pump(feed: UserFeed): void {
    if (this.#isBlocked) return;
    for (let one = feed.at(this.next); one !== undefined; one = feed.at(this.next)) {
      this.next += 1;
      if (this.#keepAlive === undefined || !this.#options.isWanted(one.event)) continue;
      if (!this.#response.write(one.bytes)) return this.#wait(feed);
    }
  }

  fellBehind(): void {
    this.#options.onFellBehind();
    const error = ApiError.of('stream_fell_behind', {});
    const farewell = `event: error\ndata: ${JSON.stringify(errorBody(error))}\n\n`;
    // The connection is broken off instead of ended: the reader lacks events.
    this.#response.write(farewell, () => this.#response.destroy());
    setTimeout(() => this.#response.destroy(), farewellMs).unref();
  }

  end(): void {
    this.#response.end();
  }

  #wait(feed: UserFeed): void {
    this.#isBlocked = true;
    this.#response.once('drain', () => {
      this.#isBlocked = false;
      this.pump(feed);
      feed.forgetTaken();
    });
  }
}
