import { accessRoutes, type User } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import { v7 as uuidv7 } from 'uuid';

import { isUniqueViolation } from '../db/unique-violation.ts';
import { ApiError } from '../http/api-error.ts';
import type { Principal } from '../http/principal.ts';
import { pageLimit, toPage } from '../http/page.ts';
import { requireName } from '../http/require-name.ts';
import { addRoute } from '../http/route.ts';
import type { Clock } from '../clock.ts';
import type { Authenticator } from './authenticator.ts';
import type { AccessStore, StoredUser } from './store.ts';
import { createToken, tokenView } from './tokens.ts';

interface AccessRoutesOptions {
  store: AccessStore;
  authenticator: Authenticator;
  clock: Clock;
}

/** `GET /me` · `GET, POST /users` · `GET, POST /tokens` · `DELETE /tokens/:id` */
export function addAccessRoutes(app: FastifyInstance, options: AccessRoutesOptions): void {
  const { store, authenticator, clock } = options;

  addRoute(app, accessRoutes.me, async ({ principal }) => {
    const user = await store.findUser(principal.userId);
    const token = await store.findToken(principal.tokenId);
    if (user === undefined || token === undefined) {
      throw ApiError.of('unauthorized', { reason: 'The token is unknown or was revoked.' });
    }
    return { success: true, user: userView(user), token: tokenView(token) };
  });

  addRoute(app, accessRoutes.listUsers, async ({ principal, query }) => {
    requireAdministrator(principal);
    const limit = pageLimit(query);
    const users = await store.listUsers({ cursor: query.cursor, search: query.search, limit });
    const { items, next_cursor } = toPage(users, limit, ({ id }) => id);
    return { success: true, users: items.map(userView), next_cursor };
  });

  addRoute(app, accessRoutes.createUser, async ({ principal, body }) => {
    requireAdministrator(principal);
    const name = requireName(body.name);
    const made = { id: uuidv7(), name, role: 'user' as const, created_at: clock.now() };
    const user = await store.insertUser(made).catch((error: unknown) => {
      throw isUniqueViolation(error) ? ApiError.of('user_name_taken', { name }) : error;
    });
    return { success: true, user: userView(user) };
  });

  addRoute(app, accessRoutes.listTokens, async ({ principal, query }) => {
    const limit = pageLimit(query);
    const userId = principal.role === 'admin' ? query.user_id : principal.userId;
    const tokens = await store.listTokens({ cursor: query.cursor, userId, limit });
    const { items, next_cursor } = toPage(tokens, limit, ({ id }) => id);
    return { success: true, tokens: items.map(tokenView), next_cursor };
  });

  addRoute(app, accessRoutes.createToken, async ({ principal, body }) => ({
    success: true,
    ...(await createToken({ store, clock }, principal, body)),
  }));

  addRoute(app, accessRoutes.deleteToken, async ({ principal, params }) => {
    const token = await store.findToken(params.id);
    const visible = principal.role === 'admin' || token?.userId === principal.userId;
    if (token === undefined || !visible) throw ApiError.of('token_not_found', { token_id: params.id });
    await store.deleteToken(token.id);
    authenticator.forget(token.id);
    return { success: true, message: `Token "${token.name}" was revoked.` };
  });
}

function userView(user: StoredUser): User {
  return {
    id: user.id,
    name: user.name,
    role: user.role,
    created_at: user.created_at,
  };
}

function requireAdministrator(principal: Principal): void {
  if (principal.role === 'admin') return;
  throw ApiError.of('forbidden', { reason: 'Only administrators manage users' });
}
