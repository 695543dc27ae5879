import { randomBytes } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { boundedCache } from '../../../kernel/bounded-cache.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { ApiError } from '../../../kernel/errors/api-error.ts';
import type { OwnAddress } from '../../requests/own-address.ts';
import type { Principal } from '../../requests/principal.ts';
import type { Authenticator } from '../authenticator.ts';
import { hashTokenSecret } from '../token-secret.ts';
import type { SessionStore, StoredSession } from './session-store.ts';
import { findSessionSecret } from './session-cookie.ts';
import { hourMs } from '../../../kernel/durations.ts';

const idleMs = 12 * hourMs;
export const maxSessionMs = 7 * 24 * hourMs;
/** Minimum time between two stored uses of a session, in ms. */
const noteUseMs = 5 * 60 * 1000;

interface SessionsOptions {
  store: SessionStore;
  authenticator: Authenticator;
  ownAddress: OwnAddress;
  clock: Clock;
}

/** Browsers that are signed in, each with the token that stands behind it. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #cache = boundedCache<StoredSession>(10_000);
  /** Number of times that sessions have ended. */
  #ends = 0;

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** Returns the secret for the cookie, and whose it is. */
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
    const hash = hashTokenSecret(secret);
    await this.#options.store.delete(hash);
    this.forgetAll();
  }

  /** Call it when a browser has signed out at another server. */
  forgetAll(): void {
    this.#ends += 1;
    this.#cache.clear();
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
    const { store, clock } = this.#options;
    const now = clock.now();
    const isOver = ({ usedAt, createdAt }: StoredSession): boolean =>
      usedAt + idleMs < now || createdAt + maxSessionMs < now;
    const endsBefore = this.#ends;
    const known = this.#cache.get(hash);
    // The session may have been used at another server meanwhile.
    const session = known !== undefined && !isOver(known) ? known : await store.find(hash);
    if (session === undefined)
      throw ApiError.of('unauthorized', {
        reason: 'The token of this sign-in was revoked, or the sign-in has ended.',
      });
    if (isOver(session))
      throw ApiError.of('unauthorized', {
        reason: 'A sign-in ends after twelve hours without use, and after a week.',
      });
    const isStale = session.usedAt + noteUseMs < now;
    if (isStale) await store.noteUse(hash, now);
    // A session that was read before an end must not come back after it.
    if (this.#ends === endsBefore) this.#cache.set(hash, isStale ? { ...session, usedAt: now } : session);
    return session;
  }
}
