import {
  type Device,
  deviceRoutes,
  isSelected,
  NodeInspection,
  PhoneApps,
  PhoneHealth,
  deviceControlRoutes,
  PhoneClipboard,
  SentFile,
  type PhoneInput,
} from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';

import { ApiError } from '../../kernel/errors/api-error.ts';
import type { ConnectedHosts } from '../hosts/connected-hosts.ts';
import { appLimitOf } from '../../http/requests/principal.ts';
import { readPage } from '../../http/requests/replies/page.ts';
import { addRawRoute, addRoute } from '../../http/requests/route.ts';
import { readSelector } from './labels/phone-labels.ts';
import type { Turns } from '../../kernel/limits/turns.ts';
import { askForJson, askHost, doInput, readAnswer } from './ask-host.ts';
import type { DeviceAccess, SeenDevice } from './device-access.ts';
import { getTouchable } from './touchable-device.ts';
import { deviceView, type RunsByDevice } from './device-view.ts';
import { readCompactScreen, readScreen, identityOf } from './screens/read-screen.ts';
import type { ScreenCache } from './screens/screen-cache.ts';
import type { ScreenReader } from './screens/screen-reader.ts';
import type { AuditEvent } from '../../http/requests/audit-event.ts';
import type { FleetDevice } from './fleet-device.ts';

const phoneHealth = Compile(PhoneHealth);
const phoneApps = Compile(PhoneApps);
const nodeInspection = Compile(NodeInspection);

type DeviceQuery = Static<typeof deviceRoutes.list.query>;

interface DeviceRoutesOptions {
  access: DeviceAccess;
  hosts: ConnectedHosts;
  activeRunRows: RunsByDevice;
  /** Turns for parsing the screens that hosts return. */
  turns: Turns;
  reader: ScreenReader;
  screens: ScreenCache;
}

/** `GET /devices` · `GET, DELETE /devices/:id` · `GET /devices/:id/screen, screens, screenshot, history, apps` */
export function addDeviceRoutes(
  app: FastifyInstance,
  { access, hosts, activeRunRows, turns, reader, screens }: DeviceRoutesOptions,
): void {
  const viewAll = async (seen: readonly SeenDevice[], viewerId: string) => {
    const running = await activeRunRows.mapByDevice(seen.map(({ device }) => device.id));
    return seen.map((one) => deviceView(access, running.get(one.device.id) ?? [], { ...one, viewerId }));
  };

  addRoute(app, deviceRoutes.list, async ({ principal, query }) => {
    const { userId } = principal;
    const terms = query.selector === undefined ? [] : readSelector(access.labels, userId, query.selector);
    const isWanted = (device: Device): boolean => isSelected(terms, device) && fits(device, query);
    const { items, next_cursor } = await readPage(
      query,
      async ({ cursor = '', limit }) => {
        const devices: Device[] = [];
        // A selector must match the same phones here as when it chooses phones for work.
        const listed =
          query.selector === undefined ? access.listSeen(userId, cursor) : access.listForWork(userId, cursor);
        for await (const seen of listed) {
          const viewed = await viewAll(seen, userId);
          devices.push(...viewed.filter(isWanted));
          if (devices.length >= limit) break;
        }
        return devices;
      },
      ({ device_id }) => device_id,
    );
    return { success: true, devices: items, next_cursor };
  });

  addRoute(app, deviceRoutes.get, async ({ principal: { userId }, params }) => {
    const seen = await access.get(params.id, userId);
    const running = (await activeRunRows.mapByDevice([seen.device.id])).get(seen.device.id) ?? [];
    return { success: true, device: deviceView(access, running, { ...seen, viewerId: userId }) };
  });

  addRoute(app, deviceRoutes.delete, async ({ principal, params, auditEvent }) => {
    const device = await access.getOwn(params.id, principal.userId);
    auditEvent.on({ type: 'device', id: device.id, name: device.serial }, [device.ownerId]);
    await access.forget(device);
    return { success: true, message: `Device ${device.id} was forgotten.` };
  });

  addRawRoute(app, deviceRoutes.screen, async ({ principal, params, query, raw }, reply) => {
    const { userId } = principal;
    const { device } = await access.get(params.id, userId);
    const asked = { hosts, device, appLimit: appLimitOf(principal) };
    const { view = 'full', since } = query;
    if (view !== 'full') {
      if (view === 'diff' && since === undefined)
        throw ApiError.of('invalid_request', {
          problem: 'Field since is missing: a diff compares two screens',
        });
      const compact = { screens, since: view === 'diff' ? since : undefined, userId, turns, reader };
      const screen = await readCompactScreen(asked, compact);
      return reply.header('cache-control', 'no-store').send({ success: true, screen });
    }
    const options = { width: query.width ?? null, userId, turns, reader };
    const { body, etag } = await readScreen(asked, options);
    reply.headers({ etag, 'cache-control': 'no-cache' });
    if (raw.headers['if-none-match'] === etag) return reply.code(304).send();
    return reply.type('application/json; charset=utf-8').send(body);
  });

  addRoute(app, deviceRoutes.node, async ({ principal, params }) => {
    const { userId } = principal;
    const { device } = await access.get(params.id, userId);
    const screen = await screens.get(params.screen_id, { userId, deviceId: device.id });
    const node = { identity: identityOf(screen, Number(params.number)) };
    const question = { type: 'node', serial: device.serial, node } as const;
    return {
      success: true,
      node: await askForJson({ hosts, device, appLimit: appLimitOf(principal) }, question, nodeInspection),
    };
  });

  addRoute(app, deviceRoutes.history, async ({ principal, params }) => {
    const { device } = await access.get(params.id, principal.userId);
    const question = { type: 'health', serial: device.serial } as const;
    return {
      success: true,
      health: await askForJson({ hosts, device, appLimit: appLimitOf(principal) }, question, phoneHealth),
    };
  });

  addRoute(app, deviceRoutes.apps, async ({ principal, params }) => {
    const { device } = await access.get(params.id, principal.userId);
    const question = { type: 'apps', serial: device.serial } as const;
    return {
      success: true,
      apps: await askForJson({ hosts, device, appLimit: appLimitOf(principal) }, question, phoneApps),
    };
  });

  addRawRoute(app, deviceRoutes.screenshot, async ({ principal, params }, reply) => {
    const { device } = await access.get(params.id, principal.userId);
    const asked = { hosts, device, appLimit: appLimitOf(principal) };
    const picture = await askHost(asked, 'screenshot_failed', (ask) =>
      ask({ type: 'screenshot', serial: device.serial }),
    );
    return reply.type('image/jpeg').header('cache-control', 'no-store').send(picture);
  });
}

const textOf = ({ device_id, serial, name, brand, model }: Device): string =>
  `${device_id}\n${serial}\n${name}\n${brand} ${model}`.toLowerCase();

/** Whether the device matches the filters. */
function fits(device: Device, { state, host_id, search }: DeviceQuery): boolean {
  if (state !== undefined && device.state !== state) return false;
  if (host_id !== undefined && device.host?.id.toLowerCase() !== host_id.toLowerCase()) return false;
  return search === undefined || textOf(device).includes(search.toLowerCase());
}

const defaultLeaseMs = 60_000;
const phoneClipboard = Compile(PhoneClipboard);
const sentFile = Compile(SentFile);

/**
 * `POST /devices/:id/input, files` · `GET /devices/:id/clipboard` · `POST, DELETE /devices/:id/lease` · `GET
 * /devices/:id/lease/code`
 */
export function addControlRoutes(
  app: FastifyInstance,
  { access, hosts }: { access: DeviceAccess; hosts: ConnectedHosts },
): void {
  const { leases } = access;

  hosts.permitTouches(async ({ deviceId, ...claimant }) => {
    const { device } = await access.get(deviceId, claimant.userId);
    return leases.requireFreeNow(device, claimant);
  });

  addRoute(app, deviceControlRoutes.input, async ({ principal, params, query, body, auditEvent }) => {
    const { device } = await getTouchable(access, params.id, principal);
    requireOnScreen(device, body);
    const claimant = { userId: principal.userId, leaseId: query.lease_id };
    await leases.use(device, claimant);
    note(auditEvent, device);
    auditEvent.isFrequent = true;
    const asked = { hosts, device, appLimit: appLimitOf(principal) };
    const tellWindow = query.tell_window === 'true';
    const wanted = { input: body, tellWindow, settle: query.settle === 'true' };
    const window = await doInput(asked, wanted, claimant).catch(async (error: unknown) => {
      await leases.requireFreeNow(device, claimant);
      throw error;
    });
    const done = { success: true, message: `${doneText(body)} on the device ${device.id}.` } as const;
    return tellWindow ? { ...done, touched_window: window } : done;
  });

  addRoute(app, deviceControlRoutes.clipboard, async ({ principal, params, query }) => {
    const { device } = await getTouchable(access, params.id, principal);
    const claimant = { userId: principal.userId, leaseId: query.lease_id };
    await leases.use(device, claimant);
    const question = { type: 'clipboard', serial: device.serial } as const;
    return askHost({ hosts, device, appLimit: appLimitOf(principal) }, 'host_request_failed', async (ask) => {
      const answer = await ask(question, { deviceId: device.id, ...claimant });
      return { success: true, text: readAnswer(answer, phoneClipboard).text };
    });
  });

  addRoute(app, deviceControlRoutes.sendFile, async ({ principal, params, query, body, auditEvent }) => {
    const { device } = await getTouchable(access, params.id, principal);
    const claimant = { userId: principal.userId, leaseId: query.lease_id };
    await leases.use(device, claimant);
    note(auditEvent, device);
    auditEvent.isFrequent = true;
    const question = { type: 'file', serial: device.serial, file: body } as const;
    return askHost({ hosts, device, appLimit: appLimitOf(principal) }, 'host_request_failed', async (ask) => {
      const answer = await ask(question, { deviceId: device.id, ...claimant });
      return { success: true, ...readAnswer(answer, sentFile) };
    });
  });

  addRoute(app, deviceControlRoutes.lease, async ({ principal, params, body, auditEvent }) => {
    const { device } = await getTouchable(access, params.id, principal);
    // Programs that hold a phone renew the lease every few seconds.
    auditEvent.isFrequent = leases.find(device) !== null;
    note(auditEvent, device);
    const lease = await leases.take(device, {
      userId: principal.userId,
      leaseId: body.lease_id,
      isExclusive: body.exclusive,
      durationMs: body.duration_ms ?? defaultLeaseMs,
    });
    return { success: true, lease };
  });

  addRoute(app, deviceControlRoutes.leaseCode, async ({ principal, params, query }) => {
    const { device } = await getTouchable(access, params.id, principal);
    const claimant = { userId: principal.userId, leaseId: query.lease_id };
    return { success: true, code: await leases.readCode(device, claimant) };
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

/** Throws for a point that is off the screen in every orientation, because only the phone knows the current one. */
function requireOnScreen({ stored }: FleetDevice, input: PhoneInput): void {
  const { screen_width: width, screen_height: height } = stored;
  const longSide = Math.max(width, height);
  const outside = pointsOf(input).find((point) => Math.max(...point) >= longSide);
  // A phone that has not reported its size has 0.
  if (outside === undefined || longSide === 0) return;
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

/** Returns a summary such as `Tapped 540, 1200`. Omits typed text, which may be a secret. */
function doneText(input: PhoneInput): string {
  if (input.type === 'tap') return `Tapped ${input.x}, ${input.y}`;
  if (input.type === 'swipe')
    return `Swiped from ${input.from_x}, ${input.from_y} to ${input.to_x}, ${input.to_y}`;
  if (input.type === 'fingers') return `Moved ${input.ways.length} fingers`;
  if (input.type === 'clipboard') return `Put ${[...input.text].length} characters on the clipboard`;
  if (input.type === 'text') return `Typed ${[...input.text].length} characters`;
  return input.type === 'key' ? `Pressed the key ${input.key_code}` : `Started ${input.package_name}`;
}
