import { logRoutes } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';

import type { Clock } from '../clock.ts';
import type { DeviceAccess } from '../devices/device-access.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Principal } from '../http/principal.ts';
import { addRawRoute } from '../http/route.ts';
import type { RunAccess } from '../runs/run-access.ts';
import { cursorOf } from './log-cursor.ts';
import type { RecentLogs } from './tables/recent-logs.ts';
import { readLogs } from './read-logs.ts';

interface LogRoutesOptions {
  devices: DeviceAccess;
  runAccess: RunAccess;
  store: RecentLogs;
  clock: Clock;
}

/** `POST /devices/automationLogs` */
export function addLogRoutes(
  app: FastifyInstance,
  { devices, runAccess, store, clock }: LogRoutesOptions,
): void {
  addRawRoute(app, logRoutes.read, async ({ principal, body }, reply) => {
    const from = cursorOf(body.from, 'Field from');
    const { userId } = principal;
    const { device } = await devices.getCached(body.device_id, userId);
    requireProjects(principal, body.automation_ids);
    const automationIds = await runAccess.selectReadable(userId, device, body.automation_ids);
    const deviceId = device.id;
    const logs = await readLogs(store, { deviceId, automationIds, from, nowMs: clock.now() });
    return reply.type('application/json; charset=utf-8').send(logs);
  });
}

function requireProjects({ projectIds }: Principal, automationIds: readonly string[]): void {
  const foreign = projectIds === null ? [] : automationIds.filter((id) => !projectIds.has(id));
  if (foreign.length === 0) return;
  throw ApiError.of('forbidden', { reason: `This token is not for the automation ${foreign.join(', ')}` });
}
