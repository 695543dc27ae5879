import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DeviceRole, Host } from '@phalanx/protocol';
import { ApiError } from '../../../kernel/errors/api-error.ts';
import { mergePages } from '../../../http/requests/replies/page.ts';
import type { KnownHost, KnownHosts } from '../../hosts/known-hosts.ts';
import type { DeviceAccess } from '../device-access.ts';
import { type DeviceShares, hostTarget } from '../device-shares.ts';
import type { Fleet } from '../fleet.ts';
import type { StateCount } from '../device-placement-store.ts';

/** Number of hosts in one batch: reading and rendering a batch takes about 2 ms. */
const hostsAtOnce = 100;

/** Sources in which hosts are looked up. */
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

const seenOf = ({ shares }: DeviceAccess, known: readonly KnownHost[], userId: string): SeenHost[] =>
  known.flatMap((host) => {
    const role = roleOf(shares, host, userId);
    return role === undefined ? [] : [{ host, role }];
  });

/** Returns a cursor with the owner in it, because hosts of two owners may share one ID. */
const cursorOf = ({ id, ownerId }: Pick<KnownHost, 'id' | 'ownerId'>): string =>
  `${id.toLowerCase()}.${ownerId}`;
export const hostCursor = ({ id, owner }: Host): string => cursorOf({ id, ownerId: owner.id });

/** Returns a host by its ID, preferably the user's own. Throws `host_not_found` for users without access to it. */
export async function getHost(
  { hosts, access }: HostSources,
  { id, userId }: { id: string; userId: string },
): Promise<SeenHost> {
  const known = await hosts.listOfId([userId, ...access.shares.listOwners(userId)], id);
  const named = seenOf(access, known, userId);
  const one = named.find(({ role }) => role === 'owner') ?? named[0];
  if (one === undefined) throw ApiError.of('host_not_found', { host_id: id });
  return one;
}

/** Lists at most `limit` hosts after the cursor, ordered by cursor. */
export async function listHosts(
  sources: HostSources,
  userId: string,
  { cursor, limit }: { cursor: string; limit: number },
): Promise<Host[]> {
  const { shares } = sources.access;
  const shown: Host[] = [];
  for await (const seen of listAfter(sources, userId, cursor.toLowerCase())) {
    const counts = await countDevices(sources.access, seen);
    for (const [index, { host, role }] of seen.entries())
      shown.push({
        id: host.id,
        name: host.name,
        connected: host.isConnected,
        since: host.since,
        problem: host.problem,
        devices: counts[index] ?? { total: 0, ready: 0 },
        role,
        accepted: role === 'owner' || shares.isAccepted(hostTarget(host.ownerId, host.id), userId),
        owner: { id: host.ownerId, name: shares.nameOf(host.ownerId) },
      });
    if (shown.length >= limit) break;
  }
  return shown.slice(0, limit);
}

/** Lists hosts after the cursor, in batches with a turn of the event loop in between. */
async function* listAfter(
  { hosts, access }: HostSources,
  userId: string,
  cursor: string,
): AsyncGenerator<SeenHost[]> {
  const ownerIds = [userId, ...access.shares.listOwners(userId)];
  for (let after: string | undefined = cursor; after !== undefined;) {
    const last: string = after;
    // The host of the cursor may be read again for each owner.
    const page = { from: last.split('.', 1)[0] ?? '', limit: hostsAtOnce + 1 };
    const readPage = async (ownerId: string): Promise<KnownHost[]> =>
      (await hosts.listPageOf(ownerId, page)).filter((host) => cursorOf(host) > last);
    const known = await mergePages(
      ownerIds.map((ownerId) => () => readPage(ownerId)),
      cursorOf,
      hostsAtOnce,
    );
    yield seenOf(access, known, userId);
    const end = known.at(-1);
    after = known.length < hostsAtOnce || end === undefined ? undefined : cursorOf(end);
  }
}

/** Counts the devices of each of the hosts. */
async function countDevices({ fleet }: DeviceAccess, seen: readonly SeenHost[]): Promise<Host['devices'][]> {
  const counts = new Map<string, StateCount[]>();
  const keyOf = (ownerId: string, hostId: string): string => `${ownerId} ${hostId}`;
  const byOwner = Map.groupBy(seen, ({ host }) => host.ownerId);
  for (const [ownerId, ofOwner] of byOwner) {
    const hostIds = ofOwner.map(({ host }) => host.id);
    for (const count of await fleet.countStatesOf(ownerId, hostIds)) {
      const key = keyOf(ownerId, count.host_id);
      counts.set(key, [...(counts.get(key) ?? []), count]);
    }
    await nextTurn();
  }
  return seen.map(({ host }) => countsOf(fleet, host, counts.get(keyOf(host.ownerId, host.id)) ?? []));
}

function countsOf(fleet: Fleet, host: KnownHost, counts: readonly StateCount[]): Host['devices'] {
  const sum = (some: readonly StateCount[]): number => some.reduce((total, { count }) => total + count, 0);
  const isReadyElsewhere = ({ epoch, state }: StateCount): boolean =>
    host.isConnected && epoch === host.epoch && state === 'ready';
  const ready = host.isHere ? fleet.countReadyHere(host.epoch ?? 0) : sum(counts.filter(isReadyElsewhere));
  return { total: sum(counts), ready };
}
