import type { FeedEvent } from './event-bus.ts';

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
