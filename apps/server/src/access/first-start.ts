import { scopes, type Scope } from '@phalanx/protocol';
import { v7 as uuidv7 } from 'uuid';

import type { Clock } from '../clock.ts';
import type { AccessStore, StoredToken, StoredUser } from './store.ts';
import { createTokenSecret, hashTokenSecret } from './token-secret.ts';

const environmentTokenName = 'PHALANX_ADMIN_TOKEN';
const yearMs = 365 * 24 * 60 * 60 * 1000;

async function createAdministrator(store: AccessStore, clock: Clock): Promise<StoredUser> {
  return store.insertUser({ id: uuidv7(), name: 'administrator', role: 'admin', created_at: clock.now() });
}

async function addToken(
  store: AccessStore,
  user: StoredUser,
  token: { name: string; secret: string; createdAt: number; expiresAt: number | null; scopes?: Scope[] },
): Promise<void> {
  const { secret, ...rest } = token;
  const hash = hashTokenSecret(secret);
  await store.insertToken({
    scopes: [...scopes],
    ...rest,
    id: uuidv7(),
    userId: user.id,
    hash,
    projectIds: null,
    parentId: null,
  });
}

const isEnvironmentToken = (token: StoredToken, administrator: StoredUser): boolean =>
  token.name === environmentTokenName &&
  token.userId === administrator.id &&
  token.parentId === null &&
  token.projectIds === null &&
  token.expiresAt === null &&
  scopes.every((scope) => token.scopes.includes(scope));

/** The token that the operator gives from outside replaces the one of the last start. */
async function useEnvironmentToken(
  store: AccessStore,
  clock: Clock,
  administrator: StoredUser,
  secret: string,
): Promise<void> {
  const same = await store.findTokenByHash(hashTokenSecret(secret));
  // The sessions of a token end with it: who is signed in stays so over a restart.
  if (same !== undefined && isEnvironmentToken(same.token, administrator)) return;
  await store.deleteTokensNamed(administrator.id, environmentTokenName);
  // The operator may have taken a token that the service made.
  if (same !== undefined) {
    await store.releaseChildren(same.token.id);
    await store.deleteToken(same.token.id);
  }
  const createdAt = clock.now();
  await addToken(store, administrator, { name: environmentTokenName, secret, createdAt, expiresAt: null });
}

/**
 * Makes sure that there is an administrator who can get in. Returns the secret of the first token when it was
 * made here: it is shown once and stored nowhere.
 */
export async function ensureAdministrator(
  store: AccessStore,
  clock: Clock,
  environmentToken: string | undefined,
): Promise<string | undefined> {
  const administrator = (await store.findAdministrator()) ?? (await createAdministrator(store, clock));
  if (environmentToken !== undefined) {
    await useEnvironmentToken(store, clock, administrator, environmentToken);
    return undefined;
  }
  // An operator who takes the variable away takes the token away.
  await store.deleteTokensNamed(administrator.id, environmentTokenName);
  const tokens = await store.listTokens({ userId: administrator.id, cursor: undefined, limit: 1 });
  if (tokens.length > 0) return undefined;
  const secret = createTokenSecret();
  const createdAt = clock.now();
  await addToken(store, administrator, {
    name: 'first token',
    secret,
    createdAt,
    expiresAt: createdAt + yearMs,
  });
  return secret;
}

/** For the host that runs beside the server on one machine: nobody has to carry its token, so it lives for one start. */
export async function replaceHostToken(store: AccessStore, clock: Clock, name: string): Promise<string> {
  const administrator = await store.findAdministrator();
  if (administrator === undefined) throw new Error('there is no administrator');
  const secret = createTokenSecret();
  await store.deleteTokensNamed(administrator.id, name);
  const token = { name, secret, createdAt: clock.now(), expiresAt: null, scopes: ['host' as const] };
  await addToken(store, administrator, token);
  return secret;
}
