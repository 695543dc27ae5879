import type { DeviceRole, Host } from '@phalanx/protocol';

import { ApiError } from '../http/api-error.ts';
import type { KnownHost, KnownHosts } from '../hosts/known-hosts.ts';
import type { DeviceAccess } from './device-access.ts';
import { hostTarget, type DeviceShares } from './device-shares.ts';

interface SeenHost {
  host: KnownHost;
  role: DeviceRole;
}

const roleOf = (shares: DeviceShares, host: KnownHost, userId: string): DeviceRole | undefined =>
  host.ownerId === userId ? 'owner' : shares.find(hostTarget(host.ownerId, host.id), userId);

/** Own hosts first: two owners may have hosts of one ID. */
function listSeen(hosts: KnownHosts, shares: DeviceShares, userId: string): SeenHost[] {
  const seen = hosts.all().flatMap((host) => {
    const role = roleOf(shares, host, userId);
    return role === undefined ? [] : [{ host, role }];
  });
  return [...seen.filter(({ role }) => role === 'owner'), ...seen.filter(({ role }) => role !== 'owner')];
}

/** Throws `host_not_found` for whoever has no part in it. */
export function getHost(
  hosts: KnownHosts,
  shares: DeviceShares,
  { id, userId }: { id: string; userId: string },
): SeenHost {
  const seen = listSeen(hosts, shares, userId).find(({ host }) => host.id === id.toLowerCase());
  if (seen === undefined) throw ApiError.of('host_not_found', { host_id: id });
  return seen;
}

export function listHosts(hosts: KnownHosts, access: DeviceAccess, userId: string): Host[] {
  return listSeen(hosts, access.shares, userId).map(({ host, role }) => ({
    ...{ id: host.id, name: host.name, connected: host.connectionId !== null, since: host.since },
    devices: countDevices(access, host),
    role,
    owner: { id: host.ownerId, name: access.shares.nameOf(host.ownerId) },
  }));
}

function countDevices({ fleet }: DeviceAccess, host: KnownHost): Host['devices'] {
  const devices = fleet.listOwn(host.ownerId).filter(({ stored }) => stored.host_id === host.id);
  const ready = devices.filter((device) => fleet.availability(device).state === 'ready');
  return { total: devices.length, ready: ready.length };
}
