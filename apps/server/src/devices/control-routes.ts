import { deviceControlRoutes } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';

import type { LinkedHosts } from '../hosts/linked-hosts.ts';
import { ApiError } from '../errors/api-error.ts';
import type { AuditEvent } from '../http/audit-event.ts';
import type { Principal } from '../http/principal.ts';
import { addRoute } from '../http/route.ts';
import { doInput } from './ask-host.ts';
import type { DeviceAccess, SeenDevice } from './device-access.ts';
import type { FleetDevice } from './fleet-device.ts';

const usualLeaseMs = 60_000;

/** `POST /devices/:id/input` · `POST, DELETE /devices/:id/lease` */
export function addControlRoutes(
  app: FastifyInstance,
  { access, hosts }: { access: DeviceAccess; hosts: LinkedHosts },
): void {
  const { leases } = access;

  hosts.requireOfTouch(async ({ deviceId, userId }) => {
    const { device } = await access.get(deviceId, userId);
    await leases.requireFreeNow(device, userId);
  });

  addRoute(app, deviceControlRoutes.input, async ({ principal, params, body, auditEvent }) => {
    const { device } = await getTouchable(access, params.id, principal);
    await leases.use(device, principal.userId);
    note(auditEvent, device);
    auditEvent.isFrequent = true;
    await doInput({ hosts, device }, body, principal.userId).catch(async (error: unknown) => {
      await leases.requireFreeNow(device, principal.userId);
      throw error;
    });
    return { success: true, message: `Device ${device.id} has done it.` };
  });

  addRoute(app, deviceControlRoutes.lease, async ({ principal, params, body, auditEvent }) => {
    const { device } = await getTouchable(access, params.id, principal);
    // Who keeps a phone asks every few seconds.
    auditEvent.isFrequent = leases.find(device) !== null;
    note(auditEvent, device);
    const lease = await leases.take(device, principal.userId, body.duration_ms ?? usualLeaseMs);
    return { success: true, lease };
  });

  addRoute(app, deviceControlRoutes.endLease, async ({ principal, params, auditEvent }) => {
    const { device, role } = await getTouchable(access, params.id, principal);
    if (role !== 'owner') leases.requireFree(device, principal.userId);
    if (leases.find(device) !== null) note(auditEvent, device);
    const wasLeased = await leases.end(device);
    return {
      success: true,
      message: wasLeased ? `Device ${device.id} is free.` : `Device ${device.id} was not leased.`,
    };
  });
}

const note = (auditEvent: AuditEvent, { id, serial, ownerId }: FleetDevice): void =>
  auditEvent.on({ type: 'device', id, name: serial }, [ownerId]);

async function getTouchable(
  access: DeviceAccess,
  id: string,
  { userId, projectIds }: Principal,
): Promise<SeenDevice> {
  const seen = await access.get(id, userId);
  if (seen.role === 'view')
    throw ApiError.of('forbidden', { reason: 'This device is shared with you for looking only' });
  if (projectIds !== null)
    throw ApiError.of('forbidden', {
      reason: 'A token that is limited to projects touches no phone by hand',
    });
  return seen;
}
