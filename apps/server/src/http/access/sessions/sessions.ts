import { randomBytes } from 'node:crypto';
import type { FastifyRequest, FastifyReply, FastifyInstance } from 'fastify';
import { scopes, sessionRoutes } from '@phalanx/protocol';
import { v7 as uuidv7 } from 'uuid';
import { boundedCache } from '../../../kernel/bounded-cache.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { ApiError } from '../../../kernel/errors/api-error.ts';
import { type OwnAddress, isLoopback } from '../../requests/addresses.ts';
import type { Principal } from '../../requests/principal.ts';
import { type Authenticator, hashTokenSecret, createTokenSecret } from '../authenticator.ts';
import type { SessionStore, StoredSession } from './session-store.ts';
import type { AccessStore } from '../store.ts';
import { addRawRoute } from '../../requests/route.ts';

const hourMs = 60 * 60 * 1000;
const idleMs = 12 * hourMs;
const longestSessionMs = 7 * 24 * hourMs;
/** A use is stored only so often. */
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
  /** How often some have ended. */
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
    await store.deleteEnded(now - idleMs, now - longestSessionMs);
    const secret = randomBytes(32).toString('base64url');
    const hash = hashTokenSecret(secret);
    onOpening(await authenticator.authenticateHash(await store.findTokenHash(tokenId)));
    await store.insert({ hash, tokenId, createdAt: now });
    const principal = await authenticator.authenticateHash((await this.#find(hash)).tokenHash);
    return { secret, expiresAt: now + longestSessionMs, principal };
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

  /** Who sends it, by its cookie; undefined when it has none. */
  async findCaller(request: FastifyRequest): Promise<Principal | undefined> {
    const { ownAddress, authenticator } = this.#options;
    const secret = findSessionSecret(request, ownAddress);
    if (secret === undefined) return undefined;
    ownAddress.requireOwnPage(request);
    const session = await this.#find(hashTokenSecret(secret));
    const principal = await authenticator.authenticateHash(session.tokenHash);
    const expiresAt = Math.min(principal.expiresAt ?? Infinity, session.createdAt + longestSessionMs);
    return { ...principal, expiresAt };
  }

  async #find(hash: string): Promise<StoredSession> {
    const { store, clock } = this.#options;
    const now = clock.now();
    const isOver = ({ usedAt, createdAt }: StoredSession): boolean =>
      usedAt + idleMs < now || createdAt + longestSessionMs < now;
    const endsBefore = this.#ends;
    const known = this.#cache.get(hash);
    // It may have been used at another server meanwhile.
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
    // What was read before an end must not come back after it.
    if (this.#ends === endsBefore) this.#cache.set(hash, isStale ? { ...session, usedAt: now } : session);
    return session;
  }
}

interface SessionCookie {
  readonly name: string;
  /** Set by this service alone: a page of a neighbouring domain, or of another port, can't set it. */
  readonly isProtected: boolean;
}

/**
 * The only cookie that counts for a request. Cookies ignore ports, so the name has it: two services on one machine keep their sign-ins apart. Browsers take the
 * `__Host-` name only where nobody can listen in: over TLS, and on the machine itself.
 */
function cookieOf(request: FastifyRequest, ownAddress: OwnAddress): SessionCookie {
  const { host } = request.headers;
  const plain = `phalanx-${/:(\d+)$/.exec(host ?? '')?.[1] ?? '0'}`;
  const isProtected = ownAddress.isTls(request) || isLoopback(host);
  return { name: isProtected ? `__Host-${plain}` : plain, isProtected };
}

function readCookie(header: string, name: string): string | undefined {
  const pair = header.split(';').find((part) => part.trimStart().startsWith(`${name}=`));
  return pair?.slice(pair.indexOf('=') + 1).trim();
}

/** The secret of the session that the browser sends. */
function findSessionSecret(request: FastifyRequest, ownAddress: OwnAddress): string | undefined {
  const { cookie } = request.headers;
  return cookie === undefined ? undefined : readCookie(cookie, cookieOf(request, ownAddress).name);
}

/** Without a secret, the browser forgets it. */
function sendSessionCookie(
  reply: FastifyReply,
  { secret, maxAgeSeconds, cookie }: { secret: string; maxAgeSeconds: number; cookie: SessionCookie },
): void {
  const rest = `Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}${cookie.isProtected ? '; Secure' : ''}`;
  void reply.header('set-cookie', `${cookie.name}=${secret}; ${rest}`).header('cache-control', 'no-store');
}

const linkLifeMs = 60 * 60 * 1000;
const yearMs = 365 * 24 * 60 * 60 * 1000;
const linkTokenName = 'sign-in link';

/** Addresses that whoever reads the service's terminal signs in with, once each, within the hour. */
export class SignInLinks {
  readonly #store: AccessStore;
  readonly #clock: Clock;

  constructor(store: AccessStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** The secret of a link for the administrator. */
  async create(): Promise<string> {
    const secret = randomBytes(32).toString('base64url');
    const tokenId = await this.#tokenId();
    const expiresAt = this.#clock.now() + linkLifeMs;
    await this.#store.insertSignInLink({ hash: hashTokenSecret(secret), tokenId, expiresAt });
    return secret;
  }

  /** The ID of the token that stands behind it; it does not work again. */
  take(secret: string): Promise<string | undefined> {
    return this.#store.takeSignInLink(hashTokenSecret(secret), this.#clock.now());
  }

  /** One token for all links, so that sign-ins outlast a restart and can be revoked. Nobody knows its secret. */
  async #tokenId(): Promise<string> {
    const user = await this.#store.findAdministrator();
    if (user === undefined) throw new Error('there is no administrator');
    const now = this.#clock.now();
    const known = await this.#store.findTokenNamed(user.id, linkTokenName);
    if (known !== undefined && (known.expiresAt ?? 0) > now + yearMs / 2) return known.id;
    const times = { createdAt: now, expiresAt: now + yearMs };
    const rights = {
      scopes: [...scopes],
      projectIds: null,
      selector: null,
      maxPhones: null,
      apps: null,
      runsPerDay: null,
      minutesPerDay: null,
      parentId: null,
    };
    const token = { id: uuidv7(), userId: user.id, name: linkTokenName, ...times, ...rights };
    await this.#store.insertToken({ ...token, hash: hashTokenSecret(createTokenSecret()) });
    return token.id;
  }
}

interface SessionRoutesOptions {
  sessions: Sessions;
  links: SignInLinks;
  authenticator: Authenticator;
  ownAddress: OwnAddress;
}

interface Credentials {
  token?: string;
  link?: string;
}

const tokenOf = ({ tokenId, tokenName }: Principal) => ({
  type: 'token' as const,
  id: tokenId,
  name: tokenName,
});

/** `POST, DELETE /session` */
export function addSessionRoutes(app: FastifyInstance, options: SessionRoutesOptions): void {
  const { sessions, links, authenticator, ownAddress } = options;

  addRawRoute(app, sessionRoutes.create, async ({ body, auditEvent, raw }, reply) => {
    ownAddress.requireOwnPage(raw);
    const { secret, expiresAt } = await sessions.open(await admit(body, raw.ip), (principal) => {
      auditEvent.actor.principal = principal;
      auditEvent.on(tokenOf(principal), [principal.userId]);
    });
    sendSessionCookie(reply, {
      secret,
      cookie: cookieOf(raw, ownAddress),
      maxAgeSeconds: longestSessionMs / 1000,
    });
    return reply.send({ success: true, expires_at: expiresAt });
  });

  addRawRoute(app, sessionRoutes.delete, async ({ principal, auditEvent, raw }, reply) => {
    auditEvent.on(tokenOf(principal), [principal.userId]);
    const secret = findSessionSecret(raw, ownAddress);
    if (secret !== undefined) await sessions.end(secret);
    sendSessionCookie(reply, { secret: '', maxAgeSeconds: 0, cookie: cookieOf(raw, ownAddress) });
    return reply.send({ success: true, message: 'You are signed out.' });
  });

  /** The ID of the token that stands behind it. */
  async function admit({ token, link }: Credentials, address: string): Promise<string> {
    if (token !== undefined)
      return (await authenticator.authenticate(`Bearer ${token.trim()}`, () => address)).tokenId;
    const tokenId = link === undefined ? undefined : await links.take(link);
    if (tokenId !== undefined) return tokenId;
    const reason =
      link === undefined
        ? 'The body has neither a token nor a link.'
        : 'This sign-in link was used already, or has expired: start the service again for a new one, or sign in with a token.';
    throw ApiError.of('unauthorized', { reason });
  }
}
