import { randomBytes } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { Cached } from '../../../kernel/cached.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { ApiError } from '../../../kernel/errors/api-error.ts';
import type { OwnAddress } from '../../requests/own-address.ts';
import type { Principal } from '../../requests/principal.ts';
import type { Authenticator } from '../authenticator.ts';
import { hashTokenSecret } from '../token-secret.ts';
import type { SessionStore, StoredSession } from './session-store.ts';
import { findSessionSecret } from './session-cookie.ts';
import { minuteMs, hourMs, dayMs } from '@phalanx/timing/durations';

const idleMs = 12 * hourMs;
export const maxSessionMs = 7 * dayMs;
/** Minimum time between two stored uses of a session, in ms. */
const noteUseMs = 5 * minuteMs;

interface SessionsOptions {
  store: SessionStore;
  authenticator: Authenticator;
  ownAddress: OwnAddress;
  clock: Clock;
}

/** Sessions of browsers, each with the token that it was opened with. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #cache = new Cached<StoredSession>(10_000);

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** Opens a session. Returns the secret for the cookie, and the principal. */
  async open(
    tokenId: string,
    onOpening: (principal: Principal) => void,
  ): Promise<{ secret: string; expiresAt: number; principal: Principal }> {
    const { store, clock, authenticator } = this.#options;
    const now = clock.now();
    await store.deleteEnded(now - idleMs, now - maxSessionMs);
    const secret = randomBytes(32).toString('base64url');
    const hash = hashTokenSecret(secret);
    onOpening(await authenticator.authenticateHash(await store.findTokenHash(tokenId)));
    await store.insert({ hash, tokenId, createdAt: now });
    const principal = await authenticator.authenticateHash((await this.#find(hash)).tokenHash);
    return { secret, expiresAt: now + maxSessionMs, principal };
  }

  async end(secret: string): Promise<void> {
    await this.#options.store.delete(hashTokenSecret(secret));
  }

  /** Clears the cache. Call it when a browser has signed out, or a token was deleted. */
  forgetAll(): void {
    this.#cache.forgetAll();
  }

  /** Finds the caller by the session cookie of the request; undefined when it has none. */
  async findCaller(request: FastifyRequest): Promise<Principal | undefined> {
    const { ownAddress, authenticator } = this.#options;
    const secret = findSessionSecret(request, ownAddress);
    if (secret === undefined) return undefined;
    ownAddress.requireOwnPage(request);
    const session = await this.#find(hashTokenSecret(secret));
    const principal = await authenticator.authenticateHash(session.tokenHash);
    const expiresAt = Math.min(principal.expiresAt ?? Infinity, session.createdAt + maxSessionMs);
    return { ...principal, expiresAt };
  }

  async #find(hash: string): Promise<StoredSession> {
    const now = this.#options.clock.now();
    const session = await this.#cache.get(hash, () => this.#read(hash, now));
    if (session.usedAt + noteUseMs >= now && session.createdAt + maxSessionMs >= now) return session;
    // The session may have been used at another server meanwhile.
    this.#cache.forget(hash);
    return this.#cache.get(hash, () => this.#read(hash, now));
  }

  /** Reads a session, and notes its use. Throws when it has ended. */
  async #read(hash: string, now: number): Promise<StoredSession> {
    const { store } = this.#options;
    const session = await store.find(hash);
    if (session === undefined)
      throw ApiError.of('unauthorized', {
        reason: 'The token of this sign-in was revoked, or the sign-in has ended.',
      });
    if (session.usedAt + idleMs < now || session.createdAt + maxSessionMs < now)
      throw ApiError.of('unauthorized', {
        reason: 'A sign-in ends after twelve hours without use, and after a week.',
      });
    if (session.usedAt + noteUseMs >= now) return session;
    await store.noteUse(hash, now);
    return { ...session, usedAt: now };
  }
}
