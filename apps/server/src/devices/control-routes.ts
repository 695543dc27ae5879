import { deviceControlRoutes, PhoneClipboard, SentFileState, type PhoneInput } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import { Compile } from 'typebox/compile';
import { ApiError } from '../errors/api-error.ts';
import type { LinkedHosts } from '../hosts/linked-hosts.ts';
import type { AuditEvent } from '../http/audit-event.ts';
import { appLimitOf } from '../http/principal.ts';
import { addRoute } from '../http/route.ts';
import { askHost, doInput } from './ask-host.ts';
import { type DeviceAccess, getTouchable } from './device-access.ts';
import type { FleetDevice } from './fleet-device.ts';

const usualLeaseMs = 60_000;
const phoneClipboard = Compile(PhoneClipboard);
const fileState = Compile(SentFileState);

/**
 * `POST /devices/:id/input, files` · `GET /devices/:id/clipboard` · `POST, DELETE /devices/:id/lease` · `GET
 * /devices/:id/lease/code`
 */
export function addControlRoutes(
  app: FastifyInstance,
  { access, hosts }: { access: DeviceAccess; hosts: LinkedHosts },
): void {
  const { leases } = access;

  hosts.requireOfTouch(async ({ deviceId, ...toucher }) => {
    const { device } = await access.get(deviceId, toucher.userId);
    await leases.requireFreeNow(device, toucher);
  });

  addRoute(app, deviceControlRoutes.input, async ({ principal, params, query, body, auditEvent }) => {
    const { device } = await getTouchable(access, params.id, principal);
    requireOnScreen(device, body);
    const toucher = { userId: principal.userId, leaseId: query.lease_id };
    await leases.use(device, toucher);
    note(auditEvent, device);
    auditEvent.isFrequent = true;
    await doInput({ hosts, device, appLimit: appLimitOf(principal) }, body, toucher).catch(
      async (error: unknown) => {
        await leases.requireFreeNow(device, toucher);
        throw error;
      },
    );
    return { success: true, message: `${doneText(body)} on the device ${device.id}.` };
  });

  addRoute(app, deviceControlRoutes.clipboard, async ({ principal, params, query }) => {
    const { device } = await getTouchable(access, params.id, principal);
    const toucher = { userId: principal.userId, leaseId: query.lease_id };
    await leases.use(device, toucher);
    const question = { type: 'clipboard', serial: device.serial } as const;
    return askHost({ hosts, device, appLimit: appLimitOf(principal) }, 'host_request_failed', async (ask) => {
      const answer = await ask(question, { deviceId: device.id, ...toucher });
      const clipboard: unknown = JSON.parse(answer.toString());
      if (phoneClipboard.Check(clipboard)) return { success: true, text: clipboard.text };
      throw new Error('its host answered with something else');
    });
  });

  addRoute(app, deviceControlRoutes.sendFile, async ({ principal, params, query, body, auditEvent }) => {
    const { device } = await getTouchable(access, params.id, principal);
    const toucher = { userId: principal.userId, leaseId: query.lease_id };
    await leases.use(device, toucher);
    note(auditEvent, device);
    auditEvent.isFrequent = true;
    const question = { type: 'file', serial: device.serial, file: body } as const;
    return askHost({ hosts, device, appLimit: appLimitOf(principal) }, 'host_request_failed', async (ask) => {
      const answer = await ask(question, { deviceId: device.id, ...toucher });
      const state: unknown = answer.toString();
      if (fileState.Check(state)) return { success: true, state };
      throw new Error('its host answered with something else');
    });
  });

  addRoute(app, deviceControlRoutes.lease, async ({ principal, params, body, auditEvent }) => {
    const { device } = await getTouchable(access, params.id, principal);
    // Who keeps a phone asks every few seconds.
    auditEvent.isFrequent = leases.find(device) !== null;
    note(auditEvent, device);
    const lease = await leases.take(device, {
      ...{ userId: principal.userId, leaseId: body.lease_id, isExclusive: body.exclusive },
      durationMs: body.duration_ms ?? usualLeaseMs,
    });
    return { success: true, lease };
  });

  addRoute(app, deviceControlRoutes.leaseCode, async ({ principal, params, query }) => {
    const { device } = await getTouchable(access, params.id, principal);
    const toucher = { userId: principal.userId, leaseId: query.lease_id };
    return { success: true, code: await leases.readCode(device, toucher) };
  });

  addRoute(app, deviceControlRoutes.endLease, async ({ principal, params, query, auditEvent }) => {
    const { device, role } = await getTouchable(access, params.id, principal);
    const leaseId = query.lease_id;
    const lease = await leases.readNow(device);
    if (leaseId !== undefined) leases.requireFree(device, { userId: principal.userId, leaseId });
    else if (role !== 'owner' && lease?.user.id !== principal.userId) leases.requireFree(device, principal);
    if (lease !== null) note(auditEvent, device);
    const wasLeased = await leases.end(device);
    return {
      success: true,
      message: wasLeased ? `Device ${device.id} is free.` : `Device ${device.id} was not leased.`,
    };
  });
}

/** In whichever way the screen is turned: only the phone knows which way it is now. */
function requireOnScreen({ stored }: FleetDevice, input: PhoneInput): void {
  const { screen_width: width, screen_height: height } = stored;
  const longest = Math.max(width, height);
  const outside = pointsOf(input).find((point) => Math.max(...point) >= longest);
  // A phone that has not said its size has 0.
  if (outside === undefined || longest === 0) return;
  const problem = `The point ${outside.join(', ')} is off the screen of ${width} × ${height} pixels`;
  throw ApiError.of('invalid_request', { problem });
}

function pointsOf(input: PhoneInput): [x: number, y: number][] {
  if (input.type === 'tap') return [[input.x, input.y]];
  const ways = input.type === 'swipe' ? [input] : input.type === 'fingers' ? input.ways : [];
  return ways.flatMap(({ from_x, from_y, to_x, to_y }): [number, number][] => [
    [from_x, from_y],
    [to_x, to_y],
  ]);
}

const note = (auditEvent: AuditEvent, { id, serial, ownerId }: FleetDevice): void =>
  auditEvent.on({ type: 'device', id, name: serial }, [ownerId]);

/** Such as `Tapped 540, 1200`. What is typed may be a secret. */
function doneText(input: PhoneInput): string {
  if (input.type === 'tap') return `Tapped ${input.x}, ${input.y}`;
  if (input.type === 'swipe')
    return `Swiped from ${input.from_x}, ${input.from_y} to ${input.to_x}, ${input.to_y}`;
  if (input.type === 'fingers') return `Moved ${input.ways.length} fingers`;
  if (input.type === 'clipboard') return `Put ${[...input.text].length} characters on the clipboard`;
  if (input.type === 'text') return `Typed ${[...input.text].length} characters`;
  return input.type === 'key' ? `Pressed the key ${input.key_code}` : `Started ${input.package_name}`;
}
