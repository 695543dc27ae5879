import {
  accessRoutes,
  type Token,
  usageRoutes,
  type Usage,
  defaultScopes,
  parseSelector,
  type Scope,
  SelectorProblem,
} from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { v7 as uuidv7 } from 'uuid';
import type { Clock } from '../../kernel/clock.ts';
import { minuteMs, yearMs } from '@phalanx/timing/durations';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { readPage } from '../requests/replies/page.ts';
import { requireScope, seesEveryone } from '../requests/policy.ts';
import type { Principal } from '../requests/principal.ts';
import { addRoute } from '../requests/route.ts';
import type { Limits } from '../../kernel/limits/limits.ts';
import { createTokenSecret, hashTokenSecret } from './token-secret.ts';
import { type AccessStore, type StoredToken, hasBudget } from './store.ts';
import { userView } from './user-routes.ts';
import { parseTime } from '../requests/parse-time.ts';
import { requireName } from '../requests/require-name.ts';
import { freeAt, type TokenUse, unused } from '../../storage/db/token-use.ts';

interface AccessRoutesOptions {
  store: AccessStore;
  clock: Clock;
  limits: Limits;
}

/** `GET /me` · `GET, POST /tokens` · `DELETE /tokens/:id` */
export function addAccessRoutes(app: FastifyInstance, options: AccessRoutesOptions): void {
  const { store, clock, limits } = options;

  addRoute(app, accessRoutes.me, async ({ principal }) => {
    const user = await store.findUser(principal.userId);
    const token = await store.findToken(principal.tokenId);
    if (user === undefined || token === undefined) {
      throw ApiError.of('unauthorized', { reason: 'The token is unknown or was revoked.' });
    }
    const now = clock.now();
    const useOf = await store.readUse([token], now);
    return { success: true, user: userView(user), token: tokenView(token, useOf(token.id), now) };
  });

  addRoute(app, accessRoutes.listTokens, async ({ principal, query }) => {
    const userId = seesEveryone(principal) ? query.user_id : principal.userId;
    const only = principal.projectIds === null ? {} : { ancestorId: principal.tokenId };
    const { items, next_cursor } = await readPage(
      query,
      (part) => store.listTokens({ ...part, ...only, userId }),
      ({ id }) => id,
    );
    const now = clock.now();
    const useOf = await store.readUse(items, now);
    return {
      success: true,
      tokens: items.map((token) => tokenView(token, useOf(token.id), now)),
      next_cursor,
    };
  });

  addRoute(app, accessRoutes.createToken, async ({ principal, body, auditEvent }) => {
    const onMade = ({ id, name, user_id, ...token }: Token): void => {
      const { scopes, project_ids, selector, max_phones, apps, expires_at } = token;
      const { runs_per_day = null, minutes_per_day = null } = token.budget ?? {};
      const budget = { runs_per_day, minutes_per_day };
      const details = { user_id, scopes, project_ids, selector, max_phones, apps, ...budget, expires_at };
      auditEvent.on({ type: 'token', id, name }, [user_id], details);
    };
    const { token, secret } = await createToken({ store, clock, limits, onMade }, principal, body);
    return { success: true, token, secret };
  });

  addRoute(app, accessRoutes.deleteToken, async ({ principal, params, auditEvent }) => {
    const token = await store.findToken(params.id);
    if (token === undefined || !(await isVisible(principal, token)))
      throw ApiError.of('token_not_found', { token_id: params.id });
    if (token.id !== principal.tokenId) requireScope(principal, 'admin');
    await store.deleteToken(token.id, (count) => {
      const details = { user_id: token.userId, made_with_it: count - 1 };
      auditEvent.on({ type: 'token', id: token.id, name: token.name }, [token.userId], details);
    });
    return { success: true, message: `Token "${token.name}" was revoked.` };
  });

  async function isVisible(principal: Principal, token: StoredToken): Promise<boolean> {
    if (principal.projectIds !== null) return store.isInFamily(token.id, principal.tokenId);
    return seesEveryone(principal) || token.userId === principal.userId;
  }
}

interface UsageRoutesOptions {
  store: AccessStore;
  clock: Clock;
  limits: Limits;
}

/** `GET /me/usage` · `GET /users/:id/usage` · `GET /usage` */
export function addUsageRoutes(app: FastifyInstance, { store, clock, limits }: UsageRoutesOptions): void {
  limits.registerUsage('tokens', (userId) => store.countTokens(userId));

  const usageOf = async ({ id, name }: { id: string; name: string }): Promise<Usage> => ({
    user_id: id,
    name,
    limits: await limits.usageOf(id),
  });

  addRoute(app, usageRoutes.mine, async ({ principal: { userId, userName, tokenId } }) => {
    const token = await store.findToken(tokenId);
    const now = clock.now();
    const useOf = await store.readUse(token === undefined ? [] : [token], now);
    return {
      success: true,
      usage: await usageOf({ id: userId, name: userName }),
      budget: token === undefined ? null : tokenView(token, useOf(tokenId), now).budget,
    };
  });

  addRoute(app, usageRoutes.ofUser, async ({ params }) => {
    const user = await store.findUser(params.id.toLowerCase());
    if (user === undefined) throw ApiError.of('user_not_found', { user_id: params.id });
    return { success: true, usage: await usageOf(user) };
  });

  addRoute(app, usageRoutes.list, async ({ query }) => {
    const { items, next_cursor } = await readPage(
      query,
      (part) => store.listUsers({ ...part, search: undefined }),
      ({ id }) => id,
    );
    return { success: true, usage: await Promise.all(items.map(usageOf)), next_cursor };
  });
}

type TokenRequest = Static<typeof accessRoutes.createToken.body>;

/** Returns the view of a token. `use`: its usage of today, needed for a token with a budget. */
function tokenView(token: StoredToken, use: TokenUse, now: number): Token {
  return {
    id: token.id,
    user_id: token.userId,
    name: token.name,
    scopes: token.scopes,
    project_ids: token.projectIds,
    selector: token.selector,
    max_phones: token.maxPhones,
    apps: token.apps,
    budget: hasBudget(token)
      ? {
          runs_per_day: token.runsPerDay,
          minutes_per_day: token.minutesPerDay,
          runs_used: use.runs,
          minutes_used: Math.floor(use.runMs / minuteMs),
          free_at: freeAt(now),
        }
      : null,
    created_at: token.createdAt,
    expires_at: token.expiresAt,
    last_used_at: token.lastUsedAt,
  };
}

/** Returns the expiry, epoch ms; a token never outlives the token that created it. */
function expiryOf(request: TokenRequest, principal: Principal, now: number): number {
  return Math.min(wantedExpiryOf(request, now), principal.expiresAt ?? Number.POSITIVE_INFINITY);
}

function wantedExpiryOf(request: TokenRequest, now: number): number {
  if (request.expires_at === undefined) return now + yearMs;
  const expiresAt = parseTime(request.expires_at, 'Field expires_at');
  if (expiresAt > now) return expiresAt;
  throw ApiError.of('invalid_request', { problem: 'Field expires_at must be in the future' });
}

/** Returns the scopes. A token cannot grant more than it has. */
function scopesOf(request: TokenRequest, principal: Principal): Scope[] {
  const wanted = request.scopes ?? defaultScopes.filter((scope) => principal.scopes.has(scope));
  const missing = wanted.filter((scope) => !principal.scopes.has(scope));
  if (missing.length > 0) {
    throw ApiError.of('forbidden', {
      reason: `This token cannot grant the scope ${missing.join(', ')}, which it does not have`,
    });
  }
  return [...new Set(wanted)];
}

function projectsOf(request: TokenRequest, principal: Principal): string[] | null {
  const allowed = principal.projectIds;
  const asked = request.project_ids?.map((id) => id.toLowerCase());
  const wanted = asked ?? (allowed === null ? null : [...allowed]);
  const foreign = allowed === null ? [] : (wanted ?? []).filter((id) => !allowed.has(id));
  if (foreign.length > 0) {
    throw ApiError.of('forbidden', {
      reason: `This token cannot grant access to project ${foreign.join(', ')}`,
    });
  }
  return wanted;
}

/** The selector of the phones that a token reaches. Throws `invalid_selector`. */
function selectorOf({ selector, device_ids: ids }: TokenRequest): string | null {
  const terms = [
    ...(selector === undefined ? [] : [selector]),
    ...(ids === undefined ? [] : [`id=${ids.join('|')}`]),
  ];
  if (terms.length === 0) return null;
  const text = terms.join(',');
  try {
    parseSelector(text);
    return text;
  } catch (error) {
    if (!(error instanceof SelectorProblem)) throw error;
    throw ApiError.of('invalid_selector', { selector: text, problem: error.message });
  }
}

/** Sorts the apps, so that equal limits are equal texts. */
const appsOf = ({ apps }: TokenRequest): string[] | null =>
  apps === undefined ? null : [...new Set(apps)].toSorted();

async function ownerOf(store: AccessStore, request: TokenRequest, principal: Principal): Promise<string> {
  const userId = request.user_id ?? principal.userId;
  if (userId === principal.userId) return userId;
  if (!seesEveryone(principal)) {
    const reason =
      'Only administrators can create tokens for other users, and only with a token that is not limited to projects';
    throw ApiError.of('forbidden', { reason });
  }
  if ((await store.findUser(userId)) === undefined) throw ApiError.of('user_not_found', { user_id: userId });
  return userId;
}

async function requireProjects(store: AccessStore, userId: string, ids: readonly string[]): Promise<void> {
  const foreign = await store.findForeignProjects(userId, ids);
  if (foreign.length === 0) return;
  throw ApiError.of('invalid_request', {
    problem: `Field project_ids names projects that the user does not have: ${foreign.slice(0, 20).join(', ')}`,
  });
}

interface TokenMaker {
  store: AccessStore;
  clock: Clock;
  limits: Limits;
  /** Called with the token before it is stored. */
  onMade: (token: Token) => void;
}

/** Creates a token. Its secret is returned here and nowhere else. */
async function createToken(
  { store, clock, limits, onMade }: TokenMaker,
  principal: Principal,
  request: TokenRequest,
): Promise<{ token: Token; secret: string }> {
  const now = clock.now();
  const secret = createTokenSecret();
  const projectIds = projectsOf(request, principal);
  const userId = await ownerOf(store, request, principal);
  if (projectIds !== null) await requireProjects(store, userId, projectIds);
  const token: StoredToken = {
    expiresAt: expiryOf(request, principal, now),
    id: uuidv7(),
    scopes: scopesOf(request, principal),
    projectIds,
    selector: selectorOf(request),
    maxPhones: request.max_phones ?? null,
    apps: appsOf(request),
    runsPerDay: request.runs_per_day ?? null,
    minutesPerDay: request.minutes_per_day ?? null,
    userId,
    name: requireName(request.name),
    createdAt: now,
    lastUsedAt: null,
    // Tokens without an end are the operator's own. They are replaced at each start, and the tokens that they made stay.
    parentId: principal.expiresAt === null ? null : principal.tokenId,
  };
  const view = tokenView(token, unused, now);
  onMade(view);
  const row = { ...token, hash: hashTokenSecret(secret) };
  if (!(await store.insertTokenWithin(row, limits.limitOf('tokens')))) throw limits.refusal('tokens', userId);
  return { token: view, secret };
}
