import { Type, type Static } from 'typebox';

import { errorCodes } from '../../errors.ts';
import { Id, Uuid } from '../../ids.ts';
import { success, type RouteContract } from '../contract.ts';
import { idPageQuery, pageOf } from '../page.ts';
import { TokenBudget } from './access.ts';
import { ofAdministrators } from '../reach.ts';

/** Names of the limits. Settings of the server define their values. */
export const limitNames = [
  'projects',
  'project_bytes',
  'capture_bytes',
  'kept_log_bytes',
  'work_bytes',
  'tokens',
  'devices',
  'hosts',
  'runs',
  'device_runs',
  'log_bytes',
  'host_messages',
  'viewer_messages',
  'requests',
  'bad_tokens',
  'waiting',
  'waiting_time',
  'connections',
  'address_connections',
] as const;
export type LimitName = (typeof limitNames)[number];

export const UsageRow = Type.Object(
  {
    limit: Type.Enum([...limitNames], { title: 'LimitName' }),
    used: Type.Union([Type.Integer(), Type.Null()], {
      description:
        'Current usage; null where there is no single number for the user, such as for runs per device',
    }),
    most: Type.Integer({ description: 'The limit: the maximum that may be used' }),
    unit: Type.Enum(['count', 'bytes']),
    per: Type.Enum(['user', 'device', 'host', 'second'], {
      description:
        'What the limit is counted per; `second`: per second, for the user or all hosts of the user together. For `host` and `second`, a burst of `most` is allowed, refilled each second',
    }),
    setting: Type.String({
      description: 'Name of the setting with which the operator changes the limit',
      examples: ['PHALANX_MAX_PROJECTS'],
    }),
    code: Type.Union([Type.Enum(errorCodes), Type.Null()], {
      description:
        'Error code of a refusal at this limit; null: what exceeds the limit is dropped, or waits at the host',
    }),
    refused: Type.Integer({
      description:
        'How often the limit was reached since the service started; with several servers, at the server that answers',
    }),
  },
  { title: 'UsageRow' },
);
export type UsageRow = Static<typeof UsageRow>;

export const Usage = Type.Object(
  { user_id: Uuid, name: Type.String(), limits: Type.Array(UsageRow) },
  { title: 'Usage' },
);
export type Usage = Static<typeof Usage>;

/** Usage per user, and its limits. */
export const usageRoutes = {
  mine: {
    method: 'GET',
    path: '/api/v2/me/usage',
    operationId: 'myUsage',
    tag: 'Account',
    summary: 'Read your usage and its limits',
    scope: 'read',
    reach: { projects: 'open', phones: 'none' },
    responses: {
      200: Type.Object({
        success,
        usage: Usage,
        budget: Type.Union([TokenBudget, Type.Null()], {
          description: 'Budget of the token of the request; null: the token has no budget',
        }),
      }),
    },
  },
  ofUser: {
    method: 'GET',
    path: '/api/v2/users/:id/usage',
    operationId: 'userUsage',
    tag: 'Account',
    summary: 'Read the usage of a user (administrators)',
    scope: 'admin',
    reach: ofAdministrators,
    params: Type.Object({ id: Id }),
    responses: { 200: Type.Object({ success, usage: Usage }) },
    errors: ['user_not_found'],
  },
  list: {
    method: 'GET',
    path: '/api/v2/usage',
    operationId: 'listUsage',
    tag: 'Account',
    summary: 'List the usage of every user (administrators)',
    scope: 'admin',
    reach: ofAdministrators,
    query: Type.Object(idPageQuery),
    responses: { 200: pageOf({ usage: Type.Array(Usage) }) },
  },
} as const satisfies Record<string, RouteContract>;
