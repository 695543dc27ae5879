import { Type, type Static } from 'typebox';

import { EpochMs, Id, TimeInput, Uuid } from '../../ids.ts';
import { searchText } from '../search-text.ts';
import { AppPattern, maxAppPatterns } from '../../phones/app-limit.ts';
import { Selector } from '../../phones/device-selector.ts';
import { Scope, success, SuccessMessage, type RouteContract } from '../contract.ts';
import { pageOf, idPageQuery } from '../page.ts';
import { ofAdministrators } from '../reach.ts';

const name = Type.String({ minLength: 1, maxLength: 200 });
/** Device ID without characters that have a meaning in selectors. */
const DeviceId = Type.String({
  pattern: '^[A-Za-z0-9._-]{1,200}$',
  examples: ['01a1ff14-6b1c-7c33-9d1a-0f2a6a3c5e77'],
});

const UserRole = Type.Enum(['user', 'admin']);

export const User = Type.Object(
  {
    id: Uuid,
    name: Type.String(),
    role: UserRole,
    created_at: EpochMs,
    disabled_at: Type.Union([EpochMs, Type.Null()], {
      description:
        'When the user was disabled, since when all of their tokens are refused; null for an enabled user',
    }),
  },
  { title: 'User' },
);
export type User = Static<typeof User>;

const PerDay = Type.Union([Type.Integer(), Type.Null()], { description: 'Maximum per day; null: unlimited' });

export const TokenBudget = Type.Object(
  {
    runs_per_day: PerDay,
    minutes_per_day: PerDay,
    runs_used: Type.Integer({ description: 'Number of runs that the token has started today' }),
    minutes_used: Type.Integer({
      description: 'Minutes used today by runs of the token that have ended or still run',
    }),
    free_at: {
      ...EpochMs,
      description: 'When the budget is reset: the next midnight UTC',
    },
  },
  { title: 'TokenBudget' },
);
export type TokenBudget = Static<typeof TokenBudget>;

export const Token = Type.Object(
  {
    id: Uuid,
    user_id: Uuid,
    name: Type.String(),
    scopes: Type.Array(Scope),
    project_ids: Type.Union([Type.Array(Type.String()), Type.Null()], {
      description: 'IDs of the only projects that the token may access; null: all projects of its user',
    }),
    selector: Type.Union([Type.String(), Type.Null()], {
      description: 'Selector of the only devices that the token may access; null: all devices of its user',
    }),
    max_phones: Type.Union([Type.Integer(), Type.Null()], {
      description: 'Maximum number of devices in one launch; null: unlimited',
    }),
    apps: Type.Union([Type.Array(Type.String()), Type.Null()], {
      description: 'Package names of the only apps that the token may use on devices; null: all apps',
    }),
    budget: Type.Union([TokenBudget, Type.Null()], {
      description: 'Daily budget of the token and its usage today; null: no budget of its own',
    }),
    created_at: EpochMs,
    expires_at: Type.Union([EpochMs, Type.Null()]),
    last_used_at: Type.Union([EpochMs, Type.Null()]),
  },
  { title: 'Token' },
);
export type Token = Static<typeof Token>;

/** Users and their API tokens. */
export const accessRoutes = {
  me: {
    method: 'GET',
    path: '/api/v2/me',
    operationId: 'me',
    tag: 'Account',
    summary: 'Read the user of this token, and what the token may do',
    scope: 'read',
    reach: { projects: 'open', phones: 'none' },
    responses: { 200: Type.Object({ success, user: User, token: Token }) },
  },
  listUsers: {
    method: 'GET',
    path: '/api/v2/users',
    operationId: 'listUsers',
    tag: 'Account',
    summary: 'List the users (administrators)',
    scope: 'admin',
    reach: ofAdministrators,
    query: Type.Object({
      ...idPageQuery,
      search: Type.Optional(searchText('Part of the name, case-insensitive')),
    }),
    responses: { 200: pageOf({ users: Type.Array(User) }) },
  },
  createUser: {
    method: 'POST',
    path: '/api/v2/users',
    operationId: 'createUser',
    tag: 'Account',
    summary: 'Create a user (administrators)',
    scope: 'admin',
    reach: ofAdministrators,
    audit: 'create_user',
    body: Type.Object({ name }),
    responses: { 201: Type.Object({ success, user: User }) },
    errors: ['user_name_taken'],
  },
  updateUser: {
    method: 'PATCH',
    path: '/api/v2/users/:id',
    operationId: 'updateUser',
    tag: 'Account',
    summary: 'Rename, disable or enable a user, or change their role (administrators)',
    description:
      'All requests with tokens of a disabled user get 401 at once, and their event streams and host connections are closed. Their projects, devices and tokens are kept and work again once the user is enabled.',
    scope: 'admin',
    reach: ofAdministrators,
    audit: 'update_user',
    params: Type.Object({ id: Id }),
    body: Type.Object({
      name: Type.Optional(name),
      disabled: Type.Optional(Type.Boolean()),
      role: Type.Optional(UserRole),
    }),
    bodyExample: { disabled: true },
    responses: { 200: Type.Object({ success, user: User }) },
    errors: ['user_not_found', 'user_name_taken', 'last_administrator'],
  },
  deleteUser: {
    method: 'DELETE',
    path: '/api/v2/users/:id',
    operationId: 'deleteUser',
    tag: 'Account',
    summary: 'Delete a user for good (administrators)',
    description:
      'Also deletes their tokens, devices, runs and records of direct code, and removes them from the projects of others. Their own projects are deleted only with `projects=delete`.',
    scope: 'admin',
    reach: ofAdministrators,
    audit: 'delete_user',
    params: Type.Object({ id: Id }),
    query: Type.Object({ projects: Type.Optional(Type.Enum(['delete'])) }),
    responses: { 200: SuccessMessage },
    errors: ['user_not_found', 'user_owns_projects', 'last_administrator'],
  },
  listTokens: {
    method: 'GET',
    path: '/api/v2/tokens',
    operationId: 'listTokens',
    tag: 'Account',
    summary: 'List your tokens; administrators with the scope `admin` see the tokens of all users',
    description:
      'A token that is limited to projects sees only itself and the tokens that were created with it.',
    scope: 'read',
    reach: { projects: 'within', phones: 'refused' },
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
    summary: 'Create a token; its secret is shown only in this reply',
    description:
      'Default scopes: `read`, `launch`, `edit` and `review`. The new token never has a scope or a project that the token of the request does not have. By default it expires in a year; it never outlives the token of the request, and is revoked with it. `selector` and `device_ids` limit the token to devices, evaluated at each request; `max_phones` limits the number of devices in one launch; `apps` limits the apps, by package names such as `com.example.shop` or `com.example.*`. A token with such a limit can list and use these devices, launch projects on them and read their runs, edit code, create jobs and schedules that keep its limit, and call `/mcp`; all other endpoints refuse it. `runs_per_day` and `minutes_per_day` are its budget: the number of runs that it starts, and the minutes that they take together. Beyond the budget, launches are refused with `budget_spent` until midnight UTC. A token with a budget cannot create tokens.',
    scope: 'admin',
    reach: { projects: 'within', phones: 'refused', budget: 'refused' },
    audit: 'create_token',
    body: Type.Object({
      name,
      user_id: Type.Optional(Uuid),
      scopes: Type.Optional(Type.Array(Scope, { minItems: 1, maxItems: 6 })),
      project_ids: Type.Optional(Type.Array(Id, { minItems: 1, maxItems: 1000 })),
      selector: Type.Optional(Selector),
      device_ids: Type.Optional(Type.Array(DeviceId, { minItems: 1, maxItems: 100 })),
      max_phones: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
      apps: Type.Optional(Type.Array(AppPattern, { minItems: 1, maxItems: maxAppPatterns })),
      runs_per_day: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
      minutes_per_day: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
      expires_at: Type.Optional(TimeInput),
    }),
    bodyExample: { name: 'CI of the shop', scopes: ['read', 'launch'] },
    responses: { 201: Type.Object({ success, token: Token, secret: Type.String({ examples: ['phx_…'] }) }) },
    errors: ['user_not_found', 'too_many_tokens', 'invalid_selector'],
  },
  deleteToken: {
    method: 'DELETE',
    path: '/api/v2/tokens/:id',
    operationId: 'deleteToken',
    tag: 'Account',
    summary: 'Revoke a token, and all tokens that were created with it, at once',
    description: 'A token may always revoke itself; to revoke other tokens it needs the scope `admin`.',
    scope: 'read',
    reach: { projects: 'within', phones: 'own_token' },
    audit: 'delete_token',
    params: Type.Object({ id: Id }),
    responses: { 200: SuccessMessage },
    errors: ['token_not_found'],
  },
} as const satisfies Record<string, RouteContract>;

const secret = Type.String({ minLength: 1, maxLength: 500 });

/** Browser sessions: after signing in, a cookie replaces the token. */
export const sessionRoutes = {
  create: {
    method: 'POST',
    path: '/api/v2/session',
    operationId: 'signIn',
    tag: 'Account',
    summary: 'Sign a browser in, with a token or with a sign-in link from the command line',
    description:
      'The reply sets a session cookie that scripts cannot read. Only pages of this service may use it: the origin of each request is checked. The session ends after 12 hours without use, after 7 days, when its token ends, and on sign-out.',
    scope: null,
    reach: null,
    audit: 'sign_in',
    body: Type.Object({
      token: Type.Optional(secret),
      link: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 500,
          description: 'Secret of a sign-in link, which can be used once',
        }),
      ),
    }),
    bodyExample: { token: 'phx_…' },
    responses: { 201: Type.Object({ success, expires_at: EpochMs }) },
    errors: ['unauthorized', 'foreign_page', 'misdirected_request'],
  },
  delete: {
    method: 'DELETE',
    path: '/api/v2/session',
    operationId: 'signOut',
    tag: 'Account',
    summary: 'Sign this browser out',
    description: 'The token that was used to sign in stays valid.',
    scope: 'read',
    reach: { projects: 'open', phones: 'none' },
    audit: 'sign_out',
    responses: { 200: SuccessMessage },
  },
} as const satisfies Record<string, RouteContract>;
