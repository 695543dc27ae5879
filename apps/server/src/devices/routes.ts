import { deviceRoutes } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';

import { ApiError } from '../http/api-error.ts';
import { pageLimit, toPage } from '../http/page.ts';
import { addRawRoute, addRoute } from '../http/route.ts';
import type { ActiveRuns } from '../runs/active-runs.ts';
import { deviceView } from './device-view.ts';
import { readScreen } from './read-screen.ts';
import { selectDevices } from './select-devices.ts';
import type { Fleet, FleetDevice } from './fleet.ts';

interface DeviceRoutesOptions {
  fleet: Fleet;
  activeRuns: ActiveRuns;
}

/** `GET /devices` · `GET, DELETE /devices/:id` · `GET /devices/:id/screen, screenshot` */
export function addDeviceRoutes(app: FastifyInstance, { fleet, activeRuns }: DeviceRoutesOptions): void {
  const view = (device: FleetDevice) => deviceView(fleet, activeRuns, device);

  addRoute(app, deviceRoutes.list, async ({ principal, query }) => {
    const devices = fleet.listOwn(principal.userId).map(view);
    const { items, next_cursor } = toPage(
      selectDevices(devices, query),
      pageLimit(query),
      ({ device_id }) => device_id,
    );
    return { success: true, devices: items, next_cursor };
  });

  addRoute(app, deviceRoutes.get, async ({ principal, params }) => ({
    success: true,
    device: view(getOwn(fleet, params.id, principal.userId)),
  }));

  addRoute(app, deviceRoutes.delete, async ({ principal, params }) => {
    const device = getOwn(fleet, params.id, principal.userId);
    if (device.link !== null || activeRuns.onDevice(device.id).length > 0) {
      throw ApiError.of('device_busy', { device_id: device.id });
    }
    await fleet.delete(device);
    return { success: true, message: `Device ${device.id} is forgotten.` };
  });

  addRawRoute(app, deviceRoutes.screen, async ({ principal, params, query, raw }, reply) => {
    const device = getOwn(fleet, params.id, principal.userId);
    const { body, etag } = await readScreen(device, query.width ?? null);
    reply.headers({ etag, 'cache-control': 'no-cache' });
    if (raw.headers['if-none-match'] === etag) return reply.code(304).send();
    return reply.type('application/json; charset=utf-8').send(body);
  });

  addRawRoute(app, deviceRoutes.screenshot, async ({ principal, params }, reply) => {
    const device = getOwn(fleet, params.id, principal.userId);
    const picture = await takeScreenshot(device);
    return reply.type('image/jpeg').header('cache-control', 'no-store').send(picture);
  });
}

function getOwn(fleet: Fleet, id: string, userId: string): FleetDevice {
  const device = fleet.findOwn(id, userId);
  if (device === undefined) throw ApiError.of('device_not_found', { device_id: id });
  return device;
}

async function takeScreenshot({ id, link, serial, reason }: FleetDevice): Promise<Buffer> {
  if (link === null) throw ApiError.of('screenshot_failed', { device_id: id, reason });
  try {
    return await link.requestScreenshot(serial);
  } catch (error) {
    const why = error instanceof Error ? error.message : 'no reason given';
    throw ApiError.of('screenshot_failed', { device_id: id, reason: why }, { cause: error });
  }
}
