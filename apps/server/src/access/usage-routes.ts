import { usageRoutes, type Usage } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';

import type { Clock } from '../clock.ts';
import { ApiError } from '../errors/api-error.ts';
import { pageLimit, toPage } from '../http/replies/page.ts';
import { addRoute } from '../http/route.ts';
import type { Limits } from '../limits/limits.ts';
import { requireAdministrator } from './administrator.ts';
import type { AccessStore } from './store.ts';
import { tokenView } from './tokens.ts';

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
