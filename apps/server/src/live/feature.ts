import type { Context } from '../context.ts';
import type { DeviceAccess } from '../devices/device-access.ts';
import type { Events } from '../events/feature.ts';
import type { Hosts } from '../hosts/feature.ts';
import { addLiveRoutes } from './routes.ts';
import { addWallRoutes } from './wall-routes.ts';

/** Live pictures of devices, one by one and on walls. */
export function serveLive(
  { app, cluster, faults, webSockets }: Context,
  { devices, hosts, events }: { devices: DeviceAccess; hosts: Hosts; events: Events },
): void {
  const reaching = {
    ...{ access: devices, hosts: hosts.linked, webSockets, streams: events.streams, faults },
    catchUp: () => cluster.invalidations.catchUp(),
  };
  addLiveRoutes(app, reaching);
  addWallRoutes(app, reaching);
}
