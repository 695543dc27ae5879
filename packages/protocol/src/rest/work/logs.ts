import { Type, type Static } from 'typebox';

import { Id, Uuid } from '../../ids.ts';
import type { RouteContract } from '../contract.ts';

/** `console.info` and `console.debug` count as `log`. */
export const logLevels = ['log', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

export const LogEntry = Type.Object(
  {
    id: Type.String({ description: 'UUIDv7, strictly increasing per device; the `from` cursor' }),
    automationId: Type.String({ description: 'Project ID, or the launch ID of direct code' }),
    message: Type.String({ description: "What Node's console prints for the same arguments" }),
    lineNumber: Type.Integer({ minimum: 0, description: "Line in the user's source; 0 when there is none" }),
    messageLevel: Type.Enum(logLevels),
    run_id: Uuid,
    path: Type.Union([Type.String(), Type.Null()], {
      description: 'Source file, as in the project; null when there is none',
    }),
    timestamp: Type.Integer({ description: 'Milliseconds since the Unix epoch' }),
  },
  { title: 'LogEntry' },
);
export type LogEntry = Static<typeof LogEntry>;

/** Only entries of the last 10 minutes are returned; older ones are deleted. */
export const logWindowMs = 10 * 60 * 1000;

/** One reply of `automationLogs` holds at most so many entries. */
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
      'Oldest first, at most 1,000 entries: ask again with the `id` of the last one as `from`. An empty list means that there is nothing newer.',
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
