import type { DeviceRole, Host } from '@phalanx/protocol';

import { ApiError } from '../http/api-error.ts';
import type { KnownHost, KnownHosts } from '../hosts/known-hosts.ts';
import { type DeviceAccess, type DeviceShares, hostTarget } from './device-access.ts';

interface SeenHost {
  host: KnownHost;
  role: DeviceRole;
}

const roleOf = (shares: DeviceShares, host: KnownHost, userId: string): DeviceRole | undefined =>
  host.ownerId === userId ? 'owner' : shares.find(hostTarget(host.ownerId, host.id), userId);

const listSeen = (hosts: KnownHosts, shares: DeviceShares, userId: string): SeenHost[] =>
  hosts.all().flatMap((host) => {
    const role = roleOf(shares, host, userId);
    return role === undefined ? [] : [{ host, role }];
  });

/** Two owners may have hosts of one ID. */
export const hostCursor = ({ id, owner }: Host): string => `${id}.${owner.id}`;

/** Throws `host_not_found` for whoever has no part in it. */
export function getHost(
  hosts: KnownHosts,
  shares: DeviceShares,
  { id, userId }: { id: string; userId: string },
): SeenHost {
  const named = listSeen(hosts, shares, userId).filter(
    ({ host }) => host.id.toLowerCase() === id.toLowerCase(),
  );
  const seen = named.find(({ role }) => role === 'owner') ?? named[0];
  if (seen === undefined) throw ApiError.of('host_not_found', { host_id: id });
  return seen;
}

/** In the order of their cursors. */
export function listHosts(hosts: KnownHosts, access: DeviceAccess, userId: string): Host[] {
  const seen = listSeen(hosts, access.shares, userId).map(({ host, role }) => ({
    ...{ id: host.id, name: host.name, connected: host.epoch !== null, since: host.since },
    devices: countDevices(access, host),
    role,
    owner: { id: host.ownerId, name: access.shares.nameOf(host.ownerId) },
  }));
  return seen.sort((one, other) => (hostCursor(one) < hostCursor(other) ? -1 : 1));
}

function countDevices({ fleet }: DeviceAccess, host: KnownHost): Host['devices'] {
  const devices = fleet.listOwn(host.ownerId).filter(({ stored }) => stored.host_id === host.id);
  const ready = devices.filter((device) => fleet.availability(device).state === 'ready');
  return { total: devices.length, ready: ready.length };
}
