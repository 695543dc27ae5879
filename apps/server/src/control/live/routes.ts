import { deviceControlRoutes, maxWallPhones } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import type { DeviceAccess } from '../../fleet/devices/device-access.ts';
import type { FleetDevice } from '../../fleet/devices/fleet-device.ts';
import type { FaultMonitor } from '../../kernel/faults/fault-monitor.ts';
import type { ConnectedHosts } from '../../fleet/hosts/connected-hosts.ts';
import type { OpenStreams } from '../../http/requests/sockets/open-streams.ts';
import { addRawRoute } from '../../http/requests/route.ts';
import type { WebSockets } from '../../http/requests/sockets/web-sockets.ts';
import { LiveView } from './live-view.ts';
import { LiveViewer } from './live-viewer.ts';
import { reachesPhone } from '../../fleet/devices/phone-reach.ts';
import { readSelector, selects } from '../../fleet/devices/labels/phone-labels.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import type { Principal } from '../../http/requests/principal.ts';
import { Wall } from './wall.ts';
import { WallViewer } from './wall-viewer.ts';

interface LiveRoutesOptions {
  access: DeviceAccess;
  hosts: ConnectedHosts;
  webSockets: WebSockets;
  streams: OpenStreams;
  faults: Pick<FaultMonitor, 'report'>;
  /** Brings this server's cached shares up to date; undefined when they already are. */
  catchUp: () => Promise<void> | undefined;
}

/** Close code: the viewer may no longer see the device. */
const notFound = 4004;

/**
 * Whether the caller may see the device and their token reaches it. The check is repeated for everything that is shown.
 */
const maySee = (
  { shares, labels }: Pick<DeviceAccess, 'shares' | 'labels'>,
  principal: Principal,
  device: FleetDevice,
): boolean =>
  shares.roleOf(principal.userId, device) !== undefined && reachesPhone(labels, principal, device);

interface Watched {
  readonly view: LiveView;
  viewers: number;
}

/** `GET /devices/:id/live` */
export function addLiveRoutes(
  app: FastifyInstance,
  { access, hosts, webSockets, streams, faults, catchUp }: LiveRoutesOptions,
): void {
  const watched = new Map<string, Watched>();
  /** Viewers, each with its principal and the watched device. */
  const viewers = new Map<LiveViewer, { principal: Principal; deviceId: string }>();

  /** Ends the views of devices that their viewers may no longer see. */
  const recheck = async (): Promise<void> => {
    if (viewers.size === 0) return;
    const ids = new Set([...viewers.values()].map(({ deviceId }) => deviceId));
    const devices = await access.fleet.findAll([...ids]);
    for (const [viewer, { deviceId }] of viewers) mayWatch(viewer, devices.get(deviceId));
  };
  const recheckNow = (): void =>
    void recheck().catch((error: unknown) =>
      faults.report(error, 'the rights of the viewers of a device could not be read'),
    );
  access.shares.onChange(recheckNow);
  access.labels.onChange(recheckNow);

  const mayWatch = (viewer: LiveViewer, device: FleetDevice | undefined): boolean => {
    const watching = viewers.get(viewer);
    const isSeen =
      device !== undefined && watching !== undefined && maySee(access, watching.principal, device);
    if (!isSeen) viewer.end(notFound);
    return isSeen;
  };

  const watch = (device: FleetDevice): Watched => {
    // Stale shares must not disclose anything.
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
      const onNext = (viewer: LiveViewer): void => one.view.next(viewer);
      const takesVideo = query.video === 'h264';
      const expiresAt = principal.expiresAt ?? Infinity;
      const viewer = new LiveViewer({ socket, takesVideo, expiresAt, onNext });
      viewers.set(viewer, { principal, deviceId: device.id });
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
  /** Brings this server's cached shares up to date; undefined when they already are. */
  catchUp: () => Promise<void> | undefined;
}

/** `GET /devices/live` */
export function addWallRoutes(
  app: FastifyInstance,
  { access, hosts, webSockets, streams, faults, catchUp }: WallRoutesOptions,
): void {
  const wall = new Wall({
    // Stale shares must not disclose anything.
    findDevices: async (ids) => {
      await catchUp();
      return access.fleet.findAll(ids);
    },
    mayWatch: ({ principal }, device) => maySee(access, principal, device),
    hosts,
    onFailure: (error) => faults.report(error, 'the devices of a wall could not be read'),
  });

  const listSelected = async ({ userId }: Principal, selector: string): Promise<string[]> => {
    const terms = readSelector(access.labels, userId, selector);
    const ids: string[] = [];
    for await (const seen of access.listForWork(userId))
      ids.push(...seen.flatMap(({ device }) => (selects(access.labels, terms, device) ? [device.id] : [])));
    if (ids.length <= maxWallPhones) return ids;
    const problem = `The selector matches ${ids.length} phones; a wall shows at most ${maxWallPhones}`;
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
