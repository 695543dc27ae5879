import type { ServerResponse } from 'node:http';

import type { OpenStream } from '../http/open-streams.ts';
import type { FeedEvent } from './event-bus.ts';

/** A reader that is further behind is cut off; with the last event ID it can read on from the logs. */
const maxBehindBytes = 16 * 1024 * 1024;
const keepAliveMs = 15_000;

/** Writes server-sent events (HTML standard, section 9.2) to one response until either side ends it. */
export class EventStream implements OpenStream {
  /** When the reader's token ends, epoch ms. */
  readonly expiresAt: number;
  readonly #response: ServerResponse;
  #keepAlive: NodeJS.Timeout | undefined;

  constructor(response: ServerResponse, expiresAt: number) {
    this.expiresAt = expiresAt;
    this.#response = response;
    response.on('close', () => clearInterval(this.#keepAlive));
    response.on('error', () => response.destroy());
  }

  /** What is sent before is lost. */
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
    this.#keepAlive = setInterval(() => this.#response.write(':\n\n'), keepAliveMs);
  }

  send({ type, data, lastId }: FeedEvent): void {
    if (this.#keepAlive === undefined) return;
    const id = lastId === '' ? '' : `id: ${lastId}\n`;
    // Before the write: one event may be large, and nobody can have read it yet.
    if (this.#response.writableLength > maxBehindBytes) this.#response.destroy();
    else this.#response.write(`${id}event: ${type}\ndata: ${data}\n\n`);
  }

  end(): void {
    this.#response.end();
  }
}
