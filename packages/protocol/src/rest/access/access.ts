import { Type, type Static } from 'typebox';

import { EpochMs, Id, TimeInput, Uuid } from '../../ids.ts';
import { searchText } from '../search-text.ts';
import { AppPattern, maxAppPatterns } from '../../phones/app-limit.ts';
import { Selector } from '../../phones/device-selector.ts';
import { Scope, success, SuccessMessage, type RouteContract } from '../contract.ts';
import { pageOf, idPageQuery } from '../page.ts';
import { ofAdministrators } from '../reach.ts';

const name = Type.String({ minLength: 1, maxLength: 200 });
/** Without what has a meaning in selectors. */
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
      description: 'Since when all of their tokens are refused; null when they may come in',
    }),
  },
  { title: 'User' },
);
export type User = Static<typeof User>;

const PerDay = Type.Union([Type.Integer(), Type.Null()], { description: 'Null means any number' });

export const TokenBudget = Type.Object(
  {
    runs_per_day: PerDay,
    minutes_per_day: PerDay,
    runs_used: Type.Integer({ description: 'Runs that it has begun today' }),
    minutes_used: Type.Integer({
      description: 'Of its runs that have ended today, and of those that go on',
    }),
    free_at: {
      ...EpochMs,
      description: 'When the day ends, at midnight UTC, and everything may be used again',
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
      description: 'The only projects it may touch; null means all of its user',
    }),
    selector: Type.Union([Type.String(), Type.Null()], {
      description: 'The only phones it reaches; null means all of its user',
    }),
    max_phones: Type.Union([Type.Integer(), Type.Null()], {
      description: 'On so many phones one launch may start; null means any number',
    }),
    apps: Type.Union([Type.Array(Type.String()), Type.Null()], {
      description: 'The only apps that it may use on phones; null means all',
    }),
    budget: Type.Union([TokenBudget, Type.Null()], {
      description: 'What it may use in a day, and has used today; null: as much as its user',
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
    summary: 'Who this token belongs to and what it may do',
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
      search: Type.Optional(searchText('Part of the name, in any letter case')),
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
      'A disabled user’s tokens answer 401 at once, and their event streams and host connections end; projects, devices and tokens stay for the day on which they are enabled again.',
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
      'Their tokens, devices, runs and records of direct code go with them, and they leave the projects of others. Their own projects are deleted only with `projects=delete`.',
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
    summary: 'List your tokens; administrators with the scope `admin` see everyone’s',
    description: 'A token that is limited to projects sees itself and what was made with it.',
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
    summary: 'Create a token; its secret is shown this once',
    description:
      'Without `scopes` it may `read`, `launch`, `edit` and `review`. It never gets a scope or a project that the token of the request does not have. Without `expires_at` it expires in a year; it never outlives the token of the request, and is revoked with it. `selector` and `device_ids` limit it to phones, at the moment of each request, `max_phones` the phones of one launch, and `apps` the apps that it uses there, by packages such as `com.example.shop` or `com.example.*`: such a token lists and uses these phones, launches projects there and reads their runs, edits code, makes jobs and schedules that keep its limit, and calls `/mcp`; all other endpoints are closed to it. `runs_per_day` and `minutes_per_day` are its budget, in runs that it begins and minutes that they take together: what is beyond is refused with `budget_spent` until midnight UTC. Such a token makes no tokens.',
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
    summary: 'Revoke a token at once, and those that were made with it',
    description: 'A token may always revoke itself; for others it needs the scope `admin`.',
    scope: 'read',
    reach: { projects: 'within', phones: 'own_token' },
    audit: 'delete_token',
    params: Type.Object({ id: Id }),
    responses: { 200: SuccessMessage },
    errors: ['token_not_found'],
  },
} as const satisfies Record<string, RouteContract>;

const secret = Type.String({ minLength: 1, maxLength: 500 });

/** Signing in with a browser: a cookie stands for the token from then on. */
export const sessionRoutes = {
  create: {
    method: 'POST',
    path: '/api/v2/session',
    operationId: 'signIn',
    tag: 'Account',
    summary: 'Sign a browser in with a token, or with a sign-in link of the terminal',
    description:
      'The reply sets a cookie that scripts can’t read. Pages of this service alone may use it: every request with it is looked at for where it comes from. It ends after 12 hours without use, after 7 days, with its token, and by signing out.',
    scope: null,
    reach: null,
    audit: 'sign_in',
    body: Type.Object({
      token: Type.Optional(secret),
      link: Type.Optional(Type.String({ minLength: 1, maxLength: 500, description: 'Works once' })),
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
    description: 'The token that it signed in with stays as it is.',
    scope: 'read',
    reach: { projects: 'open', phones: 'none' },
    audit: 'sign_out',
    responses: { 200: SuccessMessage },
  },
} as const satisfies Record<string, RouteContract>;
