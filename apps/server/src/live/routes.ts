import { deviceControlRoutes } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';

import type { DeviceAccess } from '../devices/device-access.ts';
import type { FleetDevice } from '../devices/fleet-device.ts';
import type { LinkedHosts } from '../hosts/linked-hosts.ts';
import type { OpenStreams } from '../http/open-streams.ts';
import { addRawRoute } from '../http/route.ts';
import type { WebSockets } from '../http/web-sockets.ts';
import { LiveView } from './live-view.ts';
import { LiveViewer } from './live-viewer.ts';

interface LiveRoutesOptions {
  access: DeviceAccess;
  hosts: LinkedHosts;
  webSockets: WebSockets;
  streams: OpenStreams;
}

/** The device is no longer the viewer's to see. */
const notFound = 4004;

interface Watched {
  readonly view: LiveView;
  viewers: number;
}

/** `GET /devices/:id/live` */
export function addLiveRoutes(
  app: FastifyInstance,
  { access, hosts, webSockets, streams }: LiveRoutesOptions,
): void {
  const watched = new Map<string, Watched>();

  const mayWatch = (viewer: LiveViewer, device: FleetDevice | undefined): boolean => {
    const maySee = device !== undefined && access.shares.roleOf(viewer.userId, device) !== undefined;
    if (!maySee) viewer.end(notFound);
    return maySee;
  };

  const watch = (device: FleetDevice): Watched => {
    const findDevice = (): Promise<FleetDevice | undefined> => access.fleet.find(device.id);
    const begin = (): LiveView => new LiveView({ findDevice, hosts, mayWatch });
    const one = watched.get(device.id) ?? { view: begin(), viewers: 0 };
    one.viewers += 1;
    watched.set(device.id, one);
    return one;
  };

  const leave = (deviceId: string, viewer: LiveViewer, one: Watched): void => {
    one.view.leave(viewer);
    one.viewers -= 1;
    if (one.viewers === 0) watched.delete(deviceId);
  };

  addRawRoute(app, deviceControlRoutes.live, async ({ principal, params }, reply) => {
    const { device } = await access.get(params.id, principal.userId);
    streams.requirePlace(principal.tokenId);
    return webSockets.accept(reply, (socket) => {
      const one = watch(device);
      const { userId, expiresAt } = principal;
      const onNext = (viewer: LiveViewer): void => one.view.next(viewer);
      const viewer = new LiveViewer({ socket, userId, expiresAt: expiresAt ?? Infinity, onNext });
      const forget = streams.add(principal.tokenId, viewer);
      socket.on('close', () => {
        forget();
        leave(device.id, viewer, one);
      });
    });
  });
}
