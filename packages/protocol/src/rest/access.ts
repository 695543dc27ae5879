import { Type, type Static } from 'typebox';

import { EpochMs, Id, TimeInput, Uuid } from '../ids.ts';
import { Scope } from '../scopes.ts';
import { success, SuccessMessage, type RouteContract } from './contract.ts';
import { pageOf, idPageQuery } from './page.ts';

const name = Type.String({ minLength: 1, maxLength: 200 });

export const User = Type.Object({
  id: Uuid,
  name: Type.String(),
  role: Type.Union([Type.Literal('admin'), Type.Literal('user')]),
  created_at: EpochMs,
});
export type User = Static<typeof User>;

export const Token = Type.Object({
  id: Uuid,
  user_id: Uuid,
  name: Type.String(),
  scopes: Type.Array(Scope),
  project_ids: Type.Union([Type.Array(Type.String()), Type.Null()], {
    description: 'The only projects it may touch; null means all of its user',
  }),
  created_at: EpochMs,
  expires_at: Type.Union([EpochMs, Type.Null()]),
  last_used_at: Type.Union([EpochMs, Type.Null()]),
});
export type Token = Static<typeof Token>;

/** Users and their API tokens. */
export const accessRoutes = {
  me: {
    method: 'GET',
    path: '/api/v2/me',
    operationId: 'me',
    tag: 'Account',
    summary: 'Who this token belongs to and what it may do',
    scope: 'read',
    responses: { 200: Type.Object({ success, user: User, token: Token }) },
  },
  listUsers: {
    method: 'GET',
    path: '/api/v2/users',
    operationId: 'listUsers',
    tag: 'Account',
    summary: 'List the users (administrators)',
    scope: 'admin',
    query: Type.Object({
      ...idPageQuery,
      search: Type.Optional(Type.String({ description: 'Part of the name, in any letter case' })),
    }),
    responses: { 200: pageOf({ users: Type.Array(User) }) },
    errors: [403],
  },
  createUser: {
    method: 'POST',
    path: '/api/v2/users',
    operationId: 'createUser',
    tag: 'Account',
    summary: 'Create a user (administrators)',
    scope: 'admin',
    body: Type.Object({ name }),
    responses: { 201: Type.Object({ success, user: User }) },
    errors: [403, 409],
  },
  listTokens: {
    method: 'GET',
    path: '/api/v2/tokens',
    operationId: 'listTokens',
    tag: 'Account',
    summary: 'List your tokens; administrators see everyone’s',
    scope: 'admin',
    query: Type.Object({
      ...idPageQuery,
      user_id: Type.Optional(Type.String({ description: 'Only the tokens of this user' })),
    }),
    responses: { 200: pageOf({ tokens: Type.Array(Token) }) },
  },
  createToken: {
    method: 'POST',
    path: '/api/v2/tokens',
    operationId: 'createToken',
    tag: 'Account',
    summary: 'Create a token; its secret is shown this once',
    description:
      'Without `scopes` it may `read`, `launch`, `edit` and `review`. It never gets a scope or a project that the token of the request does not have. Without `expires_at` it expires in a year.',
    scope: 'admin',
    body: Type.Object({
      name,
      user_id: Type.Optional(Uuid),
      scopes: Type.Optional(Type.Array(Scope, { minItems: 1, maxItems: 6 })),
      project_ids: Type.Optional(Type.Array(Id, { minItems: 1, maxItems: 1000 })),
      expires_at: Type.Optional(TimeInput),
    }),
    responses: { 201: Type.Object({ success, token: Token, secret: Type.String() }) },
    errors: [403, 404],
  },
  deleteToken: {
    method: 'DELETE',
    path: '/api/v2/tokens/:id',
    operationId: 'deleteToken',
    tag: 'Account',
    summary: 'Revoke a token at once',
    scope: 'admin',
    params: Type.Object({ id: Id }),
    responses: { 200: SuccessMessage },
    errors: [404],
  },
} as const satisfies Record<string, RouteContract>;
