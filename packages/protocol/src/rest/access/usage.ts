import { Type, type Static } from 'typebox';

import { errorCodes } from '../../errors.ts';
import { Id, Uuid } from '../../ids.ts';
import { success, type RouteContract } from '../contract.ts';
import { idPageQuery, pageOf } from '../page.ts';
import { TokenBudget } from './access.ts';
import { ofAdministrators } from '../reach.ts';

/** Names of the limits; the settings of the server have the numbers. */
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
      description: 'Null: it is not one number of the user, such as the runs of each device',
    }),
    most: Type.Integer({ description: 'What may be used' }),
    unit: Type.Enum(['count', 'bytes']),
    per: Type.Enum(['user', 'device', 'host', 'minute'], {
      description:
        'Whose number it is; `minute`: of the user, or of the hosts of the user, together. Of a `host` and a `minute`, `most` may come at once, and again every minute',
    }),
    setting: Type.String({
      description: 'What the operator sets',
      examples: ['PHALANX_MAX_PROJECTS'],
    }),
    code: Type.Union([Type.Enum(errorCodes), Type.Null()], {
      description: 'Of a refusal; null: what is beyond is left out, or waits at the host',
    }),
    refused: Type.Integer({
      description:
        'How often it was met since the service started; of several servers, at the one that answers',
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
    summary: 'What you use, and of what limit',
    scope: 'read',
    reach: { projects: 'open', phones: 'none' },
    responses: {
      200: Type.Object({
        success,
        usage: Usage,
        budget: Type.Union([TokenBudget, Type.Null()], {
          description: 'Of the token of the request; null: it has none',
        }),
      }),
    },
  },
  ofUser: {
    method: 'GET',
    path: '/api/v2/users/:id/usage',
    operationId: 'userUsage',
    tag: 'Account',
    summary: 'What a user uses (administrators)',
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
    summary: 'What every user uses (administrators)',
    scope: 'admin',
    reach: ofAdministrators,
    query: Type.Object(idPageQuery),
    responses: { 200: pageOf({ usage: Type.Array(Usage) }) },
  },
} as const satisfies Record<string, RouteContract>;
