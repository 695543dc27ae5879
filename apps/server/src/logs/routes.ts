import { logRoutes } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';

import type { Clock } from '../clock.ts';
import type { Fleet } from '../devices/fleet.ts';
import { ApiError } from '../http/api-error.ts';
import type { Principal } from '../http/principal.ts';
import { addRawRoute } from '../http/route.ts';
import { isUuidV7 } from '../uuid-v7.ts';
import { readLogs } from './read-logs.ts';
import type { LogStore } from './store.ts';

interface LogRoutesOptions {
  fleet: Fleet;
  store: LogStore;
  clock: Clock;
}

/** `POST /devices/automationLogs` */
export function addLogRoutes(app: FastifyInstance, { fleet, store, clock }: LogRoutesOptions): void {
  addRawRoute(app, logRoutes.read, async ({ principal, body }, reply) => {
    const from = cursorOf(body.from);
    if (fleet.findOwn(body.device_id, principal.userId) === undefined) {
      throw ApiError.of('device_not_found', { device_id: body.device_id });
    }
    requireProjects(principal, body.automation_ids);
    const { device_id: deviceId, automation_ids: automationIds } = body;
    const logs = readLogs(store.segments, { deviceId, automationIds, from, nowMs: clock.now() });
    return reply.type('application/json; charset=utf-8').send(logs);
  });
}

function cursorOf(from: string | undefined): string {
  if (from === undefined) return '';
  if (isUuidV7(from)) return from.toLowerCase();
  throw ApiError.of('invalid_request', { problem: 'Field from must be the id of a log entry (a UUIDv7)' });
}

function requireProjects({ projectIds }: Principal, automationIds: readonly string[]): void {
  const foreign = projectIds === null ? [] : automationIds.filter((id) => !projectIds.has(id));
  if (foreign.length === 0) return;
  throw ApiError.of('forbidden', { reason: `This token is not for the automation ${foreign.join(', ')}` });
}
