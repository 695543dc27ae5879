import type { DeviceRole, Host } from '@phalanx/protocol';

import { ApiError } from '../http/api-error.ts';
import type { KnownHost, KnownHosts } from '../hosts/known-hosts.ts';
import { type DeviceAccess, type DeviceShares, hostTarget } from './device-access.ts';
import type { FleetDevice } from './fleet-device.ts';

/** Where hosts are looked up. */
export interface HostSources {
  readonly hosts: KnownHosts;
  readonly access: DeviceAccess;
}

interface SeenHost {
  readonly host: KnownHost;
  readonly role: DeviceRole;
}

const roleOf = (shares: DeviceShares, host: KnownHost, userId: string): DeviceRole | undefined =>
  host.ownerId === userId ? 'owner' : shares.find(hostTarget(host.ownerId, host.id), userId);

async function listSeen({ hosts, access: { shares } }: HostSources, userId: string): Promise<SeenHost[]> {
  const known = await hosts.listOfOwners([userId, ...shares.listOwners(userId)]);
  return known.flatMap((host) => {
    const role = roleOf(shares, host, userId);
    return role === undefined ? [] : [{ host, role }];
  });
}

/** Two owners may have hosts of one ID. */
export const hostCursor = ({ id, owner }: Host): string => `${id}.${owner.id}`;

/** Throws `host_not_found` for whoever has no part in it. */
export async function getHost(
  sources: HostSources,
  { id, userId }: { id: string; userId: string },
): Promise<SeenHost> {
  const seen = await listSeen(sources, userId);
  const named = seen.filter(({ host }) => host.id.toLowerCase() === id.toLowerCase());
  const one = named.find(({ role }) => role === 'owner') ?? named[0];
  if (one === undefined) throw ApiError.of('host_not_found', { host_id: id });
  return one;
}

/** In the order of their cursors. */
export async function listHosts(sources: HostSources, userId: string): Promise<Host[]> {
  const { fleet, shares } = sources.access;
  const seen = await listSeen(sources, userId);
  const devices = await fleet.listOfOwners([...new Set(seen.map(({ host }) => host.ownerId))]);
  const ofHosts = Map.groupBy(devices, ({ ownerId, stored }) => `${ownerId} ${stored.host_id}`);
  const shown = seen.map(({ host, role }) => ({
    ...{ id: host.id, name: host.name, connected: host.isConnected, since: host.since },
    devices: countDevices(ofHosts.get(`${host.ownerId} ${host.id}`) ?? []),
    role,
    owner: { id: host.ownerId, name: shares.nameOf(host.ownerId) },
  }));
  return shown.sort((one, other) => (hostCursor(one) < hostCursor(other) ? -1 : 1));
}

const countDevices = (devices: readonly FleetDevice[]): Host['devices'] => ({
  total: devices.length,
  ready: devices.filter(({ state }) => state === 'ready').length,
});
