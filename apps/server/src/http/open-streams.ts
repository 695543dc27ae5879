import { closeCodes } from '@phalanx/protocol';

import { ApiError } from './api-error.ts';

/** What outlives the request that began it. */
export interface OpenStream {
  /** When its token ends, epoch ms. */
  readonly expiresAt: number;
  /** `code`: for those that are WebSockets. */
  end(code: number): void;
}

const perToken = 100;
/** RFC 6455: the service goes away. */
const goingAway = 1001;

/** Streams of callers, by token: they end with it. */
export class OpenStreams {
  readonly #ofToken = new Map<string, Set<OpenStream>>();

  /** Throws `too_many_streams`. */
  requirePlace(tokenId: string): void {
    if ((this.#ofToken.get(tokenId)?.size ?? 0) < perToken) return;
    throw ApiError.of('too_many_streams', { limit: perToken }, { retryAfterS: 10 });
  }

  /** Returns how to say that it is over. */
  add(tokenId: string, stream: OpenStream): () => void {
    const streams = this.#ofToken.get(tokenId) ?? new Set();
    this.#ofToken.set(tokenId, streams.add(stream));
    return () => {
      streams.delete(stream);
      if (streams.size === 0) this.#ofToken.delete(tokenId);
    };
  }

  /** Those that streams are open with. */
  tokenIds(): string[] {
    return [...this.#ofToken.keys()];
  }

  endOfToken(tokenId: string): void {
    for (const stream of this.#ofToken.get(tokenId) ?? []) stream.end(closeCodes.unauthorized);
  }

  /** Ends the streams whose token has ended by now, epoch ms. */
  endExpired(nowMs: number): void {
    for (const stream of this.#all()) if (stream.expiresAt <= nowMs) stream.end(closeCodes.unauthorized);
  }

  endAll(): void {
    for (const stream of this.#all()) stream.end(goingAway);
  }

  #all(): OpenStream[] {
    return [...this.#ofToken.values()].flatMap((streams) => [...streams]);
  }
}
