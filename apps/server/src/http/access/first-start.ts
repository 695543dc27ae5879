import { scopes, type Scope } from '@phalanx/protocol';
import { v7 as uuidv7 } from 'uuid';
import type { Clock } from '../../kernel/clock.ts';
import { yearMs } from '@phalanx/timing/durations';
import { AuditEvent, type AuditEventSink } from '../requests/audit-event.ts';
import type { AccessStore, StoredToken, StoredUser } from './store.ts';
import { createTokenSecret, hashTokenSecret } from './token-secret.ts';

const environmentTokenName = 'PHALANX_ADMIN_TOKEN';

interface FirstStartContext {
  store: AccessStore;
  clock: Clock;
  auditEvents: Pick<AuditEventSink, 'done'>;
}

interface NewToken {
  name: string;
  secret: string;
  expiresAt: number | null;
  scopes?: Scope[];
}

/** Makes the audit event of a change that the service makes by itself. */
const ownAuditEvent = (action: 'create_user' | 'create_token'): AuditEvent =>
  new AuditEvent(action, { principal: undefined, address: null, requestId: null });

/** Write the audit entries first: if the start dies in between, an entry without its token is harmless. */
async function createAdministrator({ store, clock, auditEvents }: FirstStartContext): Promise<StoredUser> {
  const [id, name] = [uuidv7(), 'administrator'];
  const auditEvent = ownAuditEvent('create_user');
  auditEvent.on({ type: 'user', id, name }, [id]);
  await auditEvents.done(auditEvent);
  return store.insertUser({ id, name, role: 'admin', created_at: clock.now() });
}

async function noteToken(
  { auditEvents }: FirstStartContext,
  id: string,
  user: StoredUser,
  token: NewToken,
): Promise<void> {
  const auditEvent = ownAuditEvent('create_token');
  const details = { user_id: user.id, scopes: token.scopes ?? [...scopes], project_ids: null };
  auditEvent.on({ type: 'token', id, name: token.name }, [user.id], {
    ...details,
    expires_at: token.expiresAt,
  });
  await auditEvents.done(auditEvent);
}

async function addToken(context: FirstStartContext, user: StoredUser, token: NewToken): Promise<void> {
  const id = uuidv7();
  await noteToken(context, id, user, token);
  const { secret, ...rest } = token;
  await context.store.insertToken({
    scopes: [...scopes],
    ...rest,
    id,
    userId: user.id,
    hash: hashTokenSecret(secret),
    createdAt: context.clock.now(),
    projectIds: null,
    selector: null,
    maxPhones: null,
    apps: null,
    runsPerDay: null,
    minutesPerDay: null,
    parentId: null,
  });
}

const isEnvironmentToken = (token: StoredToken, administrator: StoredUser): boolean =>
  token.name === environmentTokenName &&
  token.userId === administrator.id &&
  token.parentId === null &&
  token.projectIds === null &&
  token.selector === null &&
  token.maxPhones === null &&
  token.expiresAt === null &&
  scopes.every((scope) => token.scopes.includes(scope));

/** Replaces the environment token of the last start by that of this one. */
async function useEnvironmentToken(
  context: FirstStartContext,
  administrator: StoredUser,
  secret: string,
): Promise<void> {
  const { store } = context;
  const same = await store.findTokenByHash(hashTokenSecret(secret));
  // Keep an unchanged token: its sessions would end with it, and users stay signed in over a restart.
  if (same !== undefined && isEnvironmentToken(same.token, administrator)) return;
  await store.deleteTokensNamed(administrator.id, environmentTokenName);
  // The operator may have set a token that the service created.
  if (same !== undefined) {
    await store.releaseChildren(same.token.id);
    await store.deleteToken(same.token.id);
  }
  await addToken(context, administrator, { name: environmentTokenName, secret, expiresAt: null });
}

/**
 * Makes sure that there is an administrator who can get in. Returns the secret of the first token when it was
 * made here: it is shown once and stored nowhere.
 */
export async function ensureAdministrator(
  context: FirstStartContext,
  environmentToken: string | undefined,
): Promise<string | undefined> {
  const { store, clock } = context;
  const administrator = (await store.findAdministrator()) ?? (await createAdministrator(context));
  if (environmentToken !== undefined) {
    await useEnvironmentToken(context, administrator, environmentToken);
    return undefined;
  }
  // Without the variable, the token of the last start is revoked.
  await store.deleteTokensNamed(administrator.id, environmentTokenName);
  const tokens = await store.listTokens({ userId: administrator.id, cursor: undefined, limit: 1 });
  if (tokens.length > 0) return undefined;
  const secret = createTokenSecret();
  const expiresAt = clock.now() + yearMs;
  await addToken(context, administrator, { name: 'first token', secret, expiresAt });
  return secret;
}

/**
 * Creates the token of the host that runs beside the server on one machine. Nobody has to carry it, so it lives for one
 * start.
 */
export async function replaceHostToken(context: FirstStartContext, name: string): Promise<string> {
  const { store } = context;
  const administrator = await store.findAdministrator();
  if (administrator === undefined) throw new Error('there is no administrator');
  const secret = createTokenSecret();
  await store.deleteTokensNamed(administrator.id, name);
  await addToken(context, administrator, { name, secret, expiresAt: null, scopes: ['host'] });
  return secret;
}
