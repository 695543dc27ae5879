import { Cached } from '../../kernel/cached.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import type { FaultMonitor } from '../../kernel/faults/fault-monitor.ts';
import { periodically } from '../../kernel/periodically.ts';
import type { Authenticate } from '../requests/authentication.ts';
import type { Principal } from '../requests/principal.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Limits } from '../../kernel/limits/limits.ts';
import type { Budget } from '../../storage/db/token-use.ts';
import type { AccessStore, StoredToken, StoredUser } from './store.ts';
import { isWholeSecret, isDamagedSecret, hashTokenSecret } from './token-secret.ts';

/** Maximum number of cached tokens; the least recently used one makes room. */
const cacheSize = 10_000;
const lastUseFlushMs = 30_000;

const refuse = (reason: string): ApiError => ApiError.of('unauthorized', { reason });

function secretOf(authorization: string): string {
  if (authorization === '') throw refuse('The request has no token.');
  const secret = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
  if (secret === undefined) throw refuse('The Authorization header is malformed.');
  return secret;
}

function budgetOf({ id, name, runsPerDay, minutesPerDay }: StoredToken): Budget | null {
  if (runsPerDay === null && minutesPerDay === null) return null;
  return { tokenId: id, tokenName: name, runs: runsPerDay, minutes: minutesPerDay };
}

function principalOf(token: StoredToken, user: StoredUser): Principal {
  return {
    userId: user.id,
    userName: user.name,
    role: user.role,
    tokenId: token.id,
    tokenName: token.name,
    scopes: new Set(token.scopes),
    projectIds: token.projectIds === null ? null : new Set(token.projectIds),
    phones:
      token.selector === null && token.maxPhones === null && token.apps === null
        ? null
        : { selector: token.selector, maxPhones: token.maxPhones, apps: token.apps },
    budget: budgetOf(token),
    expiresAt: token.expiresAt,
  };
}

export interface Authenticator {
  authenticate: Authenticate;
  /** Authenticates by the hash of a token's secret, which a session has. */
  authenticateHash(tokenHash: string): Promise<Principal>;
  /** Registers a listener that is called with tokens in use that are no longer valid. */
  onForget(listener: (tokenId: string) => void): void;
  /** Registers a source of tokens in use, which `recheck` reads again. */
  onRecheck(listTokens: () => readonly string[]): void;
  /** Reads the cached users and tokens again. Call it after they have changed. */
  recheck(): Promise<void>;
  close(): Promise<void>;
}

interface AuthenticatorOptions {
  store: AccessStore;
  clock: Clock;
  limits: Limits;
  faults: FaultMonitor;
}

export function createAuthenticator({ store, clock, limits, faults }: AuthenticatorOptions): Authenticator {
  const cache = new Cached<Principal>(cacheSize);
  const lastUses = new Map<string, number>();
  /**
   * Header that each connection was let in with: most send one token again and again, and to hash it takes a
   * microsecond.
   */
  const entries = new WeakMap<object, { authorization: string; hash: string }>();
  const forgetListeners: ((tokenId: string) => void)[] = [];
  const inUse: (() => readonly string[])[] = [];

  const storeUses = async (): Promise<void> => {
    if (lastUses.size === 0) return;
    const uses = new Map(lastUses);
    await store.noteUse(uses);
    for (const [tokenId, at] of uses) if (lastUses.get(tokenId) === at) lastUses.delete(tokenId);
  };
  const flush = (): Promise<void> =>
    storeUses().catch((error: unknown) =>
      faults.report(error, 'the last-used times of tokens could not be stored'),
    );
  const endFlushes = periodically(faults, lastUseFlushMs, flush);

  const requireGuesses = (secret: string, address: () => string): void => {
    // A whole secret can't have been guessed, and known tokens do not come here: both go on also from an address that
    // others guess from.
    const waitMs = isWholeSecret(secret) ? 0 : limits.badTokens.waitMs(address());
    if (waitMs > 0) throw limits.refusal('bad_tokens', null, { seconds: waitMs / 1000 });
  };

  const lookUp = async (hash: string, secret = ''): Promise<Principal> => {
    const found = await store.findTokenByHash(hash);
    if (found !== undefined && found.user.disabled_at !== null)
      throw refuse('The user of this token is disabled: ask an administrator.');
    if (found === undefined) {
      // Check the form after the lookup: the administrator's token of the environment may have the same prefix.
      if (isDamagedSecret(secret)) throw refuse('This token is incomplete or mistyped.');
      throw refuse('The token is unknown or was revoked.');
    }
    return principalOf(found.token, found.user);
  };

  const admit = (principal: Principal): Principal => {
    const { expiresAt, tokenId, userId } = principal;
    const now = clock.now();
    if (expiresAt !== null && expiresAt <= now) throw refuse('The token has expired.');
    lastUses.set(tokenId, now);
    limits.spend('requests', userId, userId);
    return principal;
  };

  const countRefusal = (error: unknown, address: () => string): never => {
    if (error instanceof ApiError && error.code === 'unauthorized') limits.spend('bad_tokens', address());
    throw error;
  };

  const findEntered = (authorization: string | undefined, connection: object): Principal | undefined => {
    const entry = entries.get(connection);
    return entry?.authorization === authorization ? cache.find(entry?.hash ?? '') : undefined;
  };

  const enter = async (authorization = '', address: () => string, connection: object): Promise<Principal> => {
    const secret = secretOf(authorization);
    const hash = hashTokenSecret(secret);
    if (cache.find(hash) === undefined) requireGuesses(secret, address);
    const principal = admit(await cache.get(hash, () => lookUp(hash, secret)));
    entries.set(connection, { authorization, hash });
    return principal;
  };

  const forget = (tokenId: string): void => {
    lastUses.delete(tokenId);
    for (const listener of forgetListeners) listener(tokenId);
  };

  return {
    authenticate(authorization, address, connection = {}) {
      try {
        const known = findEntered(authorization, connection);
        if (known !== undefined) return admit(known);
        return enter(authorization, address, connection).catch((error) => countRefusal(error, address));
      } catch (error) {
        return countRefusal(error, address);
      }
    },
    authenticateHash: async (hash) => admit(await cache.get(hash, () => lookUp(hash))),
    onRecheck: (listTokens) => void inUse.push(listTokens),
    async recheck() {
      cache.forgetAll();
      const tokens = new Set(inUse.flatMap((list) => list()));
      if (tokens.size === 0) return;
      for (const tokenId of tokens.difference(await store.listValid([...tokens]))) forget(tokenId);
    },
    onForget: (listener) => void forgetListeners.push(listener),
    async close() {
      await endFlushes();
      await flush();
    },
  };
}
