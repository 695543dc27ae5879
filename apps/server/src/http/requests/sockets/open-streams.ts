import { closeCodes } from '@phalanx/protocol';

import { ApiError } from '../../../kernel/errors/api-error.ts';
import type { Principal } from '../principal.ts';

/** Stream that outlives the request that began it. */
export interface OpenStream {
  /** End of its token, epoch ms. */
  readonly expiresAt: number;
  /** `code`: for those that are WebSockets. */
  end(code: number): void;
}

const perToken = 100;
const perUser = 200;
/** RFC 6455: the service goes away. */
const goingAway = 1001;

type Holder = Pick<Principal, 'tokenId' | 'userId'>;

/** Streams of callers, by token: they end with it. */
export class OpenStreams {
  readonly #ofToken = new Map<string, Set<OpenStream>>();
  readonly #countOfUser = new Map<string, number>();

  /** Throws `too_many_streams`. */
  requirePlace({ tokenId, userId }: Holder): void {
    const ofToken = this.#ofToken.get(tokenId)?.size ?? 0;
    if (ofToken >= perToken) throw tooMany('This token', perToken);
    if (this.#countOf(userId) >= perUser) throw tooMany('The user of this token', perUser);
  }

  /** Returns a function that says that it is over. */
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

  /** IDs of the tokens that streams are open with. */
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

  #countOf(userId: string): number {
    return this.#countOfUser.get(userId) ?? 0;
  }

  #all(): OpenStream[] {
    return [...this.#ofToken.values()].flatMap((streams) => [...streams]);
  }
}

const tooMany = (holder: string, limit: number): ApiError =>
  ApiError.of('too_many_streams', { holder, limit }, { retryAfterS: 10 });
