import { accessRoutes, type Token, usageRoutes, type Usage } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';

import type { Clock } from '../clock.ts';
import { ApiError } from '../errors/api-error.ts';
import { requireScope } from '../http/authentication.ts';
import { pageLimit, toPage } from '../http/replies/page.ts';
import { seesEveryone, type Principal } from '../http/principal.ts';
import { addRoute } from '../http/route.ts';
import type { Limits } from '../limits/limits.ts';
import type { Authenticator } from './authenticator.ts';
import type { AccessStore, StoredToken } from './store.ts';
import { createToken, tokenView } from './tokens.ts';
import { userView, requireAdministrator } from './users.ts';

interface AccessRoutesOptions {
  store: AccessStore;
  authenticator: Authenticator;
  clock: Clock;
  limits: Limits;
}

/** `GET /me` · `GET, POST /tokens` · `DELETE /tokens/:id` */
export function addAccessRoutes(app: FastifyInstance, options: AccessRoutesOptions): void {
  const { store, authenticator, clock, limits } = options;

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
    const limit = pageLimit(query);
    const userId = seesEveryone(principal) ? query.user_id : principal.userId;
    const only = principal.projectIds === null ? {} : { ancestorId: principal.tokenId };
    const tokens = await store.listTokens({ cursor: query.cursor, userId, limit, ...only });
    const { items, next_cursor } = toPage(tokens, limit, ({ id }) => id);
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
    const revoked = await store.deleteToken(token.id, (count) => {
      const details = { user_id: token.userId, made_with_it: count - 1 };
      auditEvent.on({ type: 'token', id: token.id, name: token.name }, [token.userId], details);
    });
    for (const id of revoked) authenticator.forget(id);
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
  limits.show('tokens', (userId) => store.countTokens(userId));

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

  addRoute(app, usageRoutes.ofUser, async ({ principal, params }) => {
    requireAdministrator(principal);
    const user = await store.findUser(params.id.toLowerCase());
    if (user === undefined) throw ApiError.of('user_not_found', { user_id: params.id });
    return { success: true, usage: await usageOf(user) };
  });

  addRoute(app, usageRoutes.list, async ({ principal, query }) => {
    requireAdministrator(principal);
    const limit = pageLimit(query);
    const users = await store.listUsers({ cursor: query.cursor, search: undefined, limit });
    const { items, next_cursor } = toPage(users, limit, ({ id }) => id);
    return { success: true, usage: await Promise.all(items.map(usageOf)), next_cursor };
  });
}
