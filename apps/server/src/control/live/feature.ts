import type { Context } from '../../http/context.ts';
import type { DeviceAccess } from '../../fleet/devices/device-access.ts';
import type { Events } from '../../runs/events/feature.ts';
import type { Hosts } from '../../fleet/hosts/feature.ts';
import { addLiveRoutes, addWallRoutes } from './routes.ts';

/** Serves live pictures of single devices and of walls. */
export function serveLive(
  { app, cluster, faults, webSockets }: Context,
  { devices, hosts, events }: { devices: DeviceAccess; hosts: Hosts; events: Events },
): void {
  const reaching = {
    access: devices,
    hosts: hosts.connected,
    webSockets,
    streams: events.streams,
    faults,
    catchUp: () => cluster.invalidations.catchUp(),
  };
  addLiveRoutes(app, reaching);
  addWallRoutes(app, reaching);
}
