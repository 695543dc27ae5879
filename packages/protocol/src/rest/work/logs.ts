import { Type } from 'typebox';

import { Id, Uuid } from '../../ids.ts';
import { LogEntry } from '../../runs/logs.ts';
import type { RouteContract } from '../contract.ts';

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
