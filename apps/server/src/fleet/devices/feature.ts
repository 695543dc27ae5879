import { addBackgroundJob } from '../../storage/background-job.ts';
import type { Context } from '../../http/context.ts';
import type { Hosts } from '../hosts/feature.ts';
import { PhoneLabels } from './labels/phone-labels.ts';
import { addLabelRoutes } from './labels/routes.ts';
import { createLabelStore } from './labels/store.ts';
import { addControlRoutes, addDeviceRoutes } from './routes.ts';
import { DeviceAccess } from './device-access.ts';
import { DeviceShares } from './device-shares.ts';
import type { RunsByDevice } from './device-view.ts';
import { Fleet } from './fleet.ts';
import { createLeaseStore } from './leases/lease-store.ts';
import { Leases } from './leases/leases.ts';
import { addMemberRoutes } from './member-routes.ts';
import { addPairingRoutes } from './hosts/pairing-routes.ts';
import { createDevicePlacementStore } from './device-placement-store.ts';
import { createDeviceStore } from './store.ts';
import { createShareStore } from './share-store.ts';
import { ScreenCache } from './screens/screen-cache.ts';
import { ScreenReader } from './screens/screen-reader.ts';

/** Opens the devices with their names, labels, shares and leases. */
export async function openDevices(
  context: Context,
  { hosts: { sessions } }: { hosts: Hosts },
): Promise<DeviceAccess> {
  const { database, cluster, node, commits, clock, limits, timing } = context;
  const { heartbeatMs } = timing;
  const placed = createDevicePlacementStore(database);
  const fleet = new Fleet({
    store: createDeviceStore(database, commits),
    placed,
    clock,
    limits,
    heartbeatMs,
    nodeId: node.id,
    endsStored: () => sessions.endsStored(),
  });
  const labels = new PhoneLabels(createLabelStore(database));
  await labels.load();
  const shares = new DeviceShares(createShareStore(database));
  await shares.load();
  const leases = new Leases({ clock, shares, store: createLeaseStore(database) });
  await leases.load();
  cluster.invalidations.on('labels', () => labels.load());
  cluster.invalidations.on('shares', () => shares.load());
  cluster.invalidations.on('leases', () => leases.load());
  return new DeviceAccess({ fleet, shares, leases, labels });
}

/** Cache of the screens that callers have read, and the parser of screens that hosts return. */
export interface DeviceScreens {
  readonly screens: ScreenCache;
  readonly reader: ScreenReader;
}

interface DeviceDependencies {
  devices: DeviceAccess;
  hosts: Hosts;
  runs: { activeRunRows: RunsByDevice };
}

/**
 * Registers the routes, listeners and jobs of devices. Call it after the features that must handle a host's `hello`
 * before its devices become ready.
 */
export function serveDevices(
  context: Context,
  { devices: access, hosts, runs }: DeviceDependencies,
): DeviceScreens {
  const { app, cluster, clock, confinement, limits, node, timing } = context;
  const reader = new ScreenReader(confinement);
  app.addHook('onClose', () => reader.close());
  const screens = new ScreenCache({ bus: cluster.bus, nodeId: node.id, clock });
  const { fleet, shares, leases } = access;
  const reaching = { access, hosts: hosts.connected };
  addDeviceRoutes(app, {
    ...reaching,
    activeRunRows: runs.activeRunRows,
    turns: limits.turns.screens,
    reader,
    screens,
  });
  addControlRoutes(app, reaching);
  leases.onChange(({ id, serial, epoch }, changes) => {
    if (epoch === null) return;
    // A host that misses this message learns of the change with the next touch.
    const told = hosts.connected.ask(epoch, { type: 'lease', serial, device_id: id, lease: changes });
    told.catch(() => {});
  });
  addMemberRoutes(app, { access, hosts: hosts.known, clock });
  addPairingRoutes(app, { access, hosts: hosts.known, connected: hosts.connected });
  addLabelRoutes(app, { access, hosts: hosts.known, activeRunRows: runs.activeRunRows });
  hosts.gateway.on('hello', (link) => shares.noteName(link.userId, link.userName));
  hosts.gateway.on('hello', (link, { devices }) => fleet.report(link, devices));
  hosts.gateway.on('devices', (link, reports) => fleet.report(link, reports));
  hosts.gateway.on('heartbeat', (link, ready) => fleet.confirm(link, ready));
  hosts.gateway.on('closed', (link) => fleet.disconnect(link));
  addBackgroundJob(context, {
    name: 'end leases and confirmations that have expired',
    everyMs: timing.sweepMs,
    onEachServer: true,
    work: async () => {
      await leases.sweep(fleet);
      await fleet.sweep();
      await fleet.retryWaiting();
    },
  });
  return { screens, reader };
}
