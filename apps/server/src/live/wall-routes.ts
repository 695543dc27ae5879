import { deviceControlRoutes, maxWallPhones } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';

import type { DeviceAccess } from '../devices/device-access.ts';
import type { FleetDevice } from '../devices/fleet-device.ts';
import { readSelector, selects } from '../devices/labels/selectors.ts';
import { ApiError } from '../errors/api-error.ts';
import type { FaultMonitor } from '../faults/fault-monitor.ts';
import type { LinkedHosts } from '../hosts/linked-hosts.ts';
import type { Principal } from '../http/principal.ts';
import { addRawRoute } from '../http/route.ts';
import type { OpenStreams } from '../http/sockets/open-streams.ts';
import type { WebSockets } from '../http/sockets/web-sockets.ts';
import { Wall } from './wall.ts';
import { WallViewer } from './wall-viewer.ts';

interface WallRoutesOptions {
  access: DeviceAccess;
  hosts: LinkedHosts;
  webSockets: WebSockets;
  streams: OpenStreams;
  faults: Pick<FaultMonitor, 'report'>;
  /** Of what this server knows of shares; undefined: it knows the newest. */
  catchUp: () => Promise<void> | undefined;
}

/** `GET /devices/live` */
export function addWallRoutes(
  app: FastifyInstance,
  { access, hosts, webSockets, streams, faults, catchUp }: WallRoutesOptions,
): void {
  const reaches = (userId: string, selector: string, device: FleetDevice): boolean =>
    selects(access.labels, readSelector(access.labels, userId, selector), device);

  const mayWatch = ({ userId, phones }: Principal, device: FleetDevice): boolean => {
    if (access.shares.roleOf(userId, device) === undefined) return false;
    const limit = phones?.selector ?? null;
    return limit === null || reaches(userId, limit, device);
  };

  const wall = new Wall({
    // What was known of shares longer ago shows nothing.
    findDevices: async (ids) => {
      await catchUp();
      return access.fleet.findAll(ids);
    },
    mayWatch: ({ principal }, device) => mayWatch(principal, device),
    hosts,
    onFailure: (error) => faults.report(error, 'who may watch a wall could not be looked up'),
  });

  const listSelected = async ({ userId }: Principal, selector: string): Promise<string[]> => {
    const terms = readSelector(access.labels, userId, selector);
    const ids: string[] = [];
    for await (const seen of access.listAfter(userId, ''))
      ids.push(...seen.flatMap(({ device }) => (selects(access.labels, terms, device) ? [device.id] : [])));
    if (ids.length <= maxWallPhones) return ids;
    const problem = `The selector means ${ids.length} phones, and a wall has at most ${maxWallPhones}`;
    throw ApiError.of('invalid_request', { problem });
  };

  addRawRoute(app, deviceControlRoutes.wall, async ({ principal, query: { selector } }, reply) => {
    const selected = selector === undefined ? [] : await listSelected(principal, selector);
    streams.requirePlace(principal);
    return webSockets.accept(reply, (socket) => {
      const viewer = new WallViewer({ socket, principal });
      viewer.watch(selected);
      wall.add(viewer);
      const forget = streams.add(principal, viewer);
      socket.on('close', () => {
        forget();
        wall.remove(viewer);
      });
    });
  });
}
