import { closeCodes } from '@phalanx/protocol';

import { ApiError } from '../../../kernel/errors/api-error.ts';
import type { Principal } from '../principal.ts';

/** Stream that outlives the request that began it. */
export interface OpenStream {
  /** Expiry of the stream's token, epoch ms. */
  readonly expiresAt: number;
  /** Ends the stream. `code`: close code of a WebSocket. */
  end(code: number): void;
}

const perToken = 100;
const perUser = 200;
/** Close code of RFC 6455: the service is going away. */
const goingAway = 1001;

type Holder = Pick<Principal, 'tokenId' | 'userId'>;

/** Open streams of callers, by token. A stream ends with its token. */
export class OpenStreams {
  readonly #ofToken = new Map<string, Set<OpenStream>>();
  readonly #countOfUser = new Map<string, number>();

  /** Throws `too_many_streams`. */
  requirePlace({ tokenId, userId }: Holder): void {
    const ofToken = this.#ofToken.get(tokenId)?.size ?? 0;
    if (ofToken >= perToken) throw tooMany('This token', perToken);
    if (this.#countOf(userId) >= perUser) throw tooMany('The user of this token', perUser);
  }

  /** Adds a stream. Returns the function that removes it. */
  add({ tokenId, userId }: Holder, stream: OpenStream): () => void {
    const streams = this.#ofToken.get(tokenId) ?? new Set();
    this.#ofToken.set(tokenId, streams.add(stream));
    this.#countOfUser.set(userId, this.#countOf(userId) + 1);
    return () => {
      if (!streams.delete(stream)) return;
      if (streams.size === 0) this.#ofToken.delete(tokenId);
      const left = this.#countOf(userId) - 1;
      if (left === 0) this.#countOfUser.delete(userId);
      else this.#countOfUser.set(userId, left);
    };
  }

  /** Lists the IDs of the tokens with open streams. */
  tokenIds(): string[] {
    return [...this.#ofToken.keys()];
  }

  endOfToken(tokenId: string): void {
    for (const stream of this.#ofToken.get(tokenId) ?? []) stream.end(closeCodes.unauthorized);
  }

  /** Ends the streams whose token has expired. `nowMs`: epoch ms. */
  endExpired(nowMs: number): void {
    for (const stream of this.#all()) if (stream.expiresAt <= nowMs) stream.end(closeCodes.unauthorized);
  }

  endAll(): void {
    for (const stream of this.#all()) stream.end(goingAway);
  }

  #countOf(userId: string): number {
    return this.#countOfUser.get(userId) ?? 0;
  }

  #all(): OpenStream[] {
    return [...this.#ofToken.values()].flatMap((streams) => [...streams]);
  }
}

const tooMany = (holder: string, limit: number): ApiError =>
  ApiError.of('too_many_streams', { holder, limit }, { retryAfterS: 10 });
