import { Type, type Static } from 'typebox';

import { Id, Uuid } from '../../ids.ts';
import type { RouteContract } from '../contract.ts';

/** Levels of log entries. `console.info` and `console.debug` count as `log`. */
export const logLevels = ['log', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

export const LogEntry = Type.Object(
  {
    id: Type.String({ description: 'UUIDv7, strictly increasing per device; used as the `from` cursor' }),
    automationId: Type.String({ description: 'Project ID, or the launch ID of direct code' }),
    message: Type.String({ description: 'Console output, formatted as by the console of Node.js' }),
    lineNumber: Type.Integer({ minimum: 0, description: 'Line in the source file; 0 if unknown' }),
    messageLevel: Type.Enum(logLevels),
    run_id: Uuid,
    path: Type.Union([Type.String(), Type.Null()], {
      description: 'Path of the source file in the project; null if unknown',
    }),
    timestamp: Type.Integer({ description: 'Milliseconds since the Unix epoch' }),
  },
  { title: 'LogEntry' },
);
export type LogEntry = Static<typeof LogEntry>;

/** Age of the oldest entries that are returned, in milliseconds: 10 minutes. Older ones are deleted. */
export const logWindowMs = 10 * 60 * 1000;

/** Maximum number of entries in one reply of `automationLogs`. */
export const logPageSize = 1000;

/** Console output of automations. */
export const logRoutes = {
  read: {
    method: 'POST',
    path: '/api/v2/devices/automationLogs',
    operationId: 'automationLogs',
    tag: 'Logs',
    summary: 'Read the console logs of the last 10 minutes',
    description:
      'Returns at most 1,000 entries, oldest first; to get more, repeat the request with the `id` of the last entry as `from`. An empty list means that there are no newer entries.',
    scope: 'read',
    reach: { projects: 'within', phones: 'body' },
    audit: null,
    body: Type.Object({
      device_id: Id,
      automation_ids: Type.Array(Id, {
        minItems: 1,
        maxItems: 1000,
        description: 'Project IDs, or launch IDs of direct code',
      }),
      from: Type.Optional(Uuid),
    }),
    responses: { 200: Type.Object({ logs: Type.Array(LogEntry) }) },
    errors: ['device_not_found'],
  },
} as const satisfies Record<string, RouteContract>;
