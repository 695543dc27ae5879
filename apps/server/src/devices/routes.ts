import { deviceRoutes } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';

import { pageLimit, toPage } from '../http/page.ts';
import type { LinkedHosts } from '../hosts/linked-hosts.ts';
import { addRawRoute, addRoute } from '../http/route.ts';
import type { ActiveRuns } from '../runs/active-runs.ts';
import { askHost, readHealth } from './ask-host.ts';
import type { DeviceAccess, SeenDevice } from './device-access.ts';
import { deviceView } from './device-view.ts';
import { readScreen } from './read-screen.ts';
import { selectDevices } from './select-devices.ts';

interface DeviceRoutesOptions {
  access: DeviceAccess;
  hosts: LinkedHosts;
  activeRuns: ActiveRuns;
}

/** `GET /devices` · `GET, DELETE /devices/:id` · `GET /devices/:id/screen, screenshot, history` */
export function addDeviceRoutes(
  app: FastifyInstance,
  { access, hosts, activeRuns }: DeviceRoutesOptions,
): void {
  const view = (seen: SeenDevice, viewerId: string) => deviceView(access, activeRuns, { ...seen, viewerId });

  addRoute(app, deviceRoutes.list, async ({ principal, query }) => {
    const seen = await access.list(principal.userId);
    const devices = seen.map((one) => view(one, principal.userId));
    const { items, next_cursor } = toPage(
      selectDevices(devices, query),
      pageLimit(query),
      ({ device_id }) => device_id,
    );
    return { success: true, devices: items, next_cursor };
  });

  addRoute(app, deviceRoutes.get, async ({ principal, params }) => ({
    success: true,
    device: view(await access.get(params.id, principal.userId), principal.userId),
  }));

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
