import { deviceRoutes } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';

import { pageLimit, toPage } from '../http/page.ts';
import type { LinkedHosts } from '../hosts/linked-hosts.ts';
import { addRawRoute, addRoute } from '../http/route.ts';
import type { RunsOnDevices } from '../runs/runs-on-devices.ts';
import { askHost, readHealth } from './ask-host.ts';
import type { DeviceAccess, SeenDevice } from './device-access.ts';
import { deviceView } from './device-view.ts';
import { readScreen } from './read-screen.ts';
import { selectDevices } from './select-devices.ts';

interface DeviceRoutesOptions {
  access: DeviceAccess;
  hosts: LinkedHosts;
  runsOn: RunsOnDevices;
}

/** `GET /devices` · `GET, DELETE /devices/:id` · `GET /devices/:id/screen, screenshot, history` */
export function addDeviceRoutes(app: FastifyInstance, { access, hosts, runsOn }: DeviceRoutesOptions): void {
  const viewAll = async (seen: readonly SeenDevice[], viewerId: string) => {
    const running = await runsOn(seen.map(({ device }) => device.id));
    return seen.map((one) => deviceView(access, running.get(one.device.id) ?? [], { ...one, viewerId }));
  };

  addRoute(app, deviceRoutes.list, async ({ principal, query }) => {
    const seen = await access.list(principal.userId);
    const devices = await viewAll(seen, principal.userId);
    const { items, next_cursor } = toPage(
      selectDevices(devices, query),
      pageLimit(query),
      ({ device_id }) => device_id,
    );
    return { success: true, devices: items, next_cursor };
  });

  addRoute(app, deviceRoutes.get, async ({ principal: { userId }, params }) => {
    const seen = await access.get(params.id, userId);
    const running = (await runsOn([seen.device.id])).get(seen.device.id) ?? [];
    return { success: true, device: deviceView(access, running, { ...seen, viewerId: userId }) };
  });

  addRoute(app, deviceRoutes.delete, async ({ principal, params, deed }) => {
    const device = await access.getOwn(params.id, principal.userId);
    deed.on({ type: 'device', id: device.id, name: device.serial }, [device.ownerId]);
    await access.forget(device);
    return { success: true, message: `Device ${device.id} is forgotten.` };
  });

  addRawRoute(app, deviceRoutes.screen, async ({ principal, params, query, raw }, reply) => {
    const { device } = await access.get(params.id, principal.userId);
    const { body, etag } = await readScreen({ hosts, device }, query.width ?? null);
    reply.headers({ etag, 'cache-control': 'no-cache' });
    if (raw.headers['if-none-match'] === etag) return reply.code(304).send();
    return reply.type('application/json; charset=utf-8').send(body);
  });

  addRoute(app, deviceRoutes.history, async ({ principal, params }) => {
    const { device } = await access.get(params.id, principal.userId);
    return { success: true, health: await readHealth({ hosts, device }) };
  });

  addRawRoute(app, deviceRoutes.screenshot, async ({ principal, params }, reply) => {
    const { device } = await access.get(params.id, principal.userId);
    const picture = await askHost({ hosts, device }, 'screenshot_failed', (ask) =>
      ask({ type: 'screenshot', serial: device.serial }),
    );
    return reply.type('image/jpeg').header('cache-control', 'no-store').send(picture);
  });
}
