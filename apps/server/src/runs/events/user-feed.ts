import type { FeedEvent } from './event-bus.ts';

/** Maximum backlog of events per user, for streams that read slowly. */
const maxKept = { bytes: 8 * 1024 * 1024, events: 20_000 };

/** An event, encoded once for all streams. */
export interface EncodedEvent {
  readonly event: FeedEvent;
  readonly bytes: Buffer;
}

export interface FeedReader {
  /** Number of the next event to take. */
  next: number;
  /** Takes as many events of the feed as it can, from `next` on. */
  pump(feed: UserFeed): void;
  /** Called when events that the reader has not taken were dropped. */
  fellBehind(): void;
}

/**
 * The newest events of one user, each encoded once. Every stream reads from its own position, so slow streams buffer
 * nothing of their own. A stream is cut off when the events at its position were dropped.
 */
export class UserFeed {
  readonly #events: EncodedEvent[] = [];
  readonly #readers = new Set<FeedReader>();
  /** Number of the first buffered event. */
  #first = 0;
  #bytes = 0;

  get size(): number {
    return this.#readers.size;
  }

  /** Bytes buffered for readers. */
  get keptBytes(): number {
    return this.#bytes;
  }

  /** Number of the next published event. */
  get end(): number {
    return this.#first + this.#events.length;
  }

  /** Returns the event with a number; undefined when it is not published yet. */
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

  /**
   * Drops the oldest events beyond the limit, and cuts off the readers that have not taken them. A single event may
   * exceed the limit.
   */
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
