import type { EventBus, FeedEvent } from './event-bus.ts';
import { type EncodedEvent, type FeedReader, UserFeed } from './user-feed.ts';

/** Encodes a server-sent event (HTML standard, section 9.2). */
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

/** Shares one feed per user among that user's streams. */
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

  /** Encodes an event. An event is published to its users one after another, so its bytes are reused. */
  #encode(event: FeedEvent): EncodedEvent {
    const { type, lastId, data } = this.#last?.event ?? {};
    const isSame = type === event.type && lastId === event.lastId && data === event.data;
    const bytes = (isSame ? this.#last?.bytes : undefined) ?? encode(event);
    this.#last = { event, bytes };
    return this.#last;
  }
}
