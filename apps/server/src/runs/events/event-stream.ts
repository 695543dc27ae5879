import type { ServerResponse } from 'node:http';
import { ApiError, errorBody } from '../../kernel/errors/api-error.ts';
import type { OpenStream } from '../../http/requests/sockets/open-streams.ts';
import type { FeedEvent } from './event-bus.ts';
import type { FeedReader, UserFeed } from './user-feed.ts';

const keepAliveMs = 15_000;
/** Time for a stream that fell behind to read the data in flight and the error at its end, in ms. */
const farewellMs = 5000;

interface Options {
  readonly response: ServerResponse;
  /** Expiry of the reader's token, epoch ms. */
  readonly expiresAt: number;
  readonly isWanted: (event: FeedEvent) => boolean;
  /** Called when the reader did not read its events in time. */
  readonly onFellBehind: () => void;
}

/** Writes the events of a feed to one response, with backpressure, until either side ends it. */
export class EventStream implements OpenStream, FeedReader {
  readonly expiresAt: number;
  next = 0;
  readonly #options: Options;
  readonly #response: ServerResponse;
  #keepAlive: NodeJS.Timeout | undefined;
  #isBlocked = false;

  constructor(options: Options) {
    this.#options = options;
    this.expiresAt = options.expiresAt;
    this.#response = options.response;
    this.#response.on('close', () => clearInterval(this.#keepAlive));
    this.#response.on('error', () => this.#response.destroy());
  }

  /** Begins the response. Earlier events are not sent. */
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
    // The connection is destroyed instead of ended, because the reader has missed events.
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
