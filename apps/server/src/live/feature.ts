import { deviceControlRoutes, maxWallPhones } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import type { DeviceAccess } from '../devices/device-access.ts';
import type { Events } from '../events/feature.ts';
import type { Hosts } from '../hosts/feature.ts';
import type { FleetDevice } from '../devices/fleet-device.ts';
import type { FaultMonitor } from '../faults/fault-monitor.ts';
import type { ConnectedHosts } from '../hosts/connected-hosts.ts';
import type { OpenStreams } from '../http/sockets/open-streams.ts';
import { addRawRoute } from '../http/route.ts';
import type { WebSockets } from '../http/sockets/web-sockets.ts';
import { LiveView } from './live-view.ts';
import { LiveViewer } from './live-viewer.ts';
import { readSelector, selects } from '../devices/labels/phone-labels.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Principal } from '../http/principal.ts';
import { Wall, WallViewer } from './wall.ts';

/** Live pictures of devices, one by one and on walls. */
export function serveLive(
  { app, cluster, faults, webSockets }: Context,
  { devices, hosts, events }: { devices: DeviceAccess; hosts: Hosts; events: Events },
): void {
  const reaching = {
    ...{ access: devices, hosts: hosts.connected, webSockets, streams: events.streams, faults },
    catchUp: () => cluster.invalidations.catchUp(),
  };
  addLiveRoutes(app, reaching);
  addWallRoutes(app, reaching);
}

interface LiveRoutesOptions {
  access: DeviceAccess;
  hosts: ConnectedHosts;
  webSockets: WebSockets;
  streams: OpenStreams;
  faults: Pick<FaultMonitor, 'report'>;
  /** Of what this server knows of shares; undefined: it knows the newest. */
  catchUp: () => Promise<void> | undefined;
}

/** The device is no longer the viewer's to see. */
const notFound = 4004;

interface Watched {
  readonly view: LiveView;
  viewers: number;
}

/** `GET /devices/:id/live` */
function addLiveRoutes(
  app: FastifyInstance,
  { access, hosts, webSockets, streams, faults, catchUp }: LiveRoutesOptions,
): void {
  const watched = new Map<string, Watched>();
  /** Of those who watch, each of the device that they watch. */
  const viewers = new Map<LiveViewer, string>();

  /** Ends the views of devices that are no longer the viewer's to see. */
  const recheck = async (): Promise<void> => {
    if (viewers.size === 0) return;
    const devices = await access.fleet.findAll([...new Set(viewers.values())]);
    for (const [viewer, deviceId] of viewers) mayWatch(viewer, devices.get(deviceId));
  };
  access.shares.onChange(() => {
    recheck().catch((error: unknown) =>
      faults.report(error, 'who may watch a device could not be looked up'),
    );
  });

  const mayWatch = (viewer: LiveViewer, device: FleetDevice | undefined): boolean => {
    const maySee = device !== undefined && access.shares.roleOf(viewer.userId, device) !== undefined;
    if (!maySee) viewer.end(notFound);
    return maySee;
  };

  const watch = (device: FleetDevice): Watched => {
    // What was known of shares longer ago shows nothing.
    const findDevice = async (): Promise<FleetDevice | undefined> => {
      await catchUp();
      return access.fleet.findCached(device.id);
    };
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

  addRawRoute(app, deviceControlRoutes.live, async ({ principal, params, query }, reply) => {
    const { device } = await access.get(params.id, principal.userId);
    streams.requirePlace(principal);
    return webSockets.accept(reply, principal, (socket) => {
      const one = watch(device);
      const { userId, expiresAt } = principal;
      const onNext = (viewer: LiveViewer): void => one.view.next(viewer);
      const takesVideo = query.video === 'h264';
      const viewer = new LiveViewer({ socket, takesVideo, userId, expiresAt: expiresAt ?? Infinity, onNext });
      viewers.set(viewer, device.id);
      const forget = streams.add(principal, viewer);
      socket.onClose(() => {
        forget();
        viewers.delete(viewer);
        leave(device.id, viewer, one);
      });
    });
  });
}

interface WallRoutesOptions {
  access: DeviceAccess;
  hosts: ConnectedHosts;
  webSockets: WebSockets;
  streams: OpenStreams;
  faults: Pick<FaultMonitor, 'report'>;
  /** Of what this server knows of shares; undefined: it knows the newest. */
  catchUp: () => Promise<void> | undefined;
}

/** `GET /devices/live` */
function addWallRoutes(
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
    return webSockets.accept(reply, principal, (socket) => {
      const viewer = new WallViewer({ socket, principal });
      viewer.watch(selected);
      wall.add(viewer);
      const forget = streams.add(principal, viewer);
      socket.onClose(() => {
        forget();
        wall.remove(viewer);
      });
    });
  });
}
