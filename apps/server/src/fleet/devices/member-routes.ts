import { deviceMemberRoutes, hostRoutes, type DeviceMember, type ShareRole } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import type { AuditEvent } from '../../http/requests/audit-event.ts';
import { readPage } from '../../http/requests/replies/page.ts';
import { addRoute } from '../../http/requests/route.ts';
import { deviceTarget, hostTarget } from './device-shares.ts';
import { getHost, hostCursor, type HostSources, listHosts } from './hosts/host-list.ts';
import type { ShareTarget } from './share-store.ts';

interface MemberSources extends HostSources {
  readonly clock: Clock;
}

/** Shared phone or host, as the caller sees it. */
interface Shared {
  target: ShareTarget;
  /** Host of a phone, whose members share the phone too. */
  host?: ShareTarget;
  /** Serial number of a phone, or name of a host. */
  name: string;
  isOwner: boolean;
}

/**
 * `GET /hosts` · `GET /devices/:id/members` · `PUT, DELETE /devices/:id/members/:user_id` · the same below
 * `/hosts/:id`
 */
export function addMemberRoutes(app: FastifyInstance, sources: MemberSources): void {
  const { access, clock } = sources;
  const { shares } = access;

  const findDevice = async (id: string, userId: string): Promise<Shared> => {
    const { device, role } = await access.get(id, userId);
    const host = hostTarget(device.ownerId, device.stored.host_id);
    return { target: deviceTarget(device), host, name: device.serial, isOwner: role === 'owner' };
  };
  const findHost = async (id: string, userId: string): Promise<Shared> => {
    const { host, role } = await getHost(sources, { id, userId });
    return { target: hostTarget(host.ownerId, host.id), name: host.name, isOwner: role === 'owner' };
  };

  addRoute(app, hostRoutes.list, async ({ principal, query }) => {
    const { items, next_cursor } = await readPage(
      query,
      ({ cursor = '', limit }) => listHosts(sources, principal.userId, { cursor, limit }),
      hostCursor,
    );
    return { success: true, hosts: items, next_cursor };
  });

  /**
   * Finds a share that its member wants to leave, even when the member has a host with the same ID or the owner's host
   * no longer exists.
   */
  const findLeft = async (
    kind: ShareTarget['kind'],
    { id, userId, ownerId }: { id: string; userId: string; ownerId: string | undefined },
  ): Promise<Shared | undefined> => {
    const targets = shares
      .listTargets(userId, kind, id)
      .filter(({ owner_id }) => ownerId === undefined || owner_id === ownerId.toLowerCase());
    const [target, other] = targets;
    if (other !== undefined)
      throw ApiError.of('invalid_request', {
        problem: 'Query parameter owner_id is missing: several users share a host of this ID with you',
      });
    return target && { target, name: await nameOf(target), isOwner: false };
  };
  const nameOf = async ({ kind, owner_id, target_id }: ShareTarget): Promise<string> =>
    kind === 'device'
      ? ((await access.fleet.find(target_id))?.serial ?? '')
      : ((await sources.hosts.listOfId([owner_id], target_id))[0]?.name ?? '');

  for (const [routes, kind, find] of [
    [deviceMemberRoutes, 'device', findDevice],
    [hostRoutes, 'host', findHost],
  ] as const) {
    addRoute(app, routes.listMembers, async ({ principal, params, query }) => {
      const shared = await find(params.id, principal.userId);
      const { items, next_cursor } = await readPage(
        query,
        ({ cursor }) => listMembers(shared, cursor),
        ({ user_id }) => user_id,
      );
      return { success: true, members: items, next_cursor };
    });
    addRoute(app, routes.putMember, async ({ principal, params, body, auditEvent }) => {
      const shared = await find(params.id, principal.userId);
      requireOwner(shared.isOwner);
      const userId = params.user_id.toLowerCase();
      const { role } = body;
      const member = await share({ target: shared.target, userId, role }, (name) =>
        onShared(auditEvent, shared, { user_id: userId, name, role }),
      );
      return { success: true, member };
    });
    addRoute(app, routes.deleteMember, async ({ principal, params, query, auditEvent }) => {
      const userId = params.user_id.toLowerCase();
      const left =
        userId === principal.userId
          ? await findLeft(kind, { id: params.id, userId, ownerId: query.owner_id })
          : undefined;
      const shared = left ?? (await find(params.id, principal.userId));
      const { target } = shared;
      if (userId !== principal.userId) requireOwner(shared.isOwner);
      if (shares.find(target, userId) === undefined)
        throw ApiError.of('share_not_found', {
          target: `${target.kind} ${params.id}`,
          user_id: params.user_id,
        });
      onShared(auditEvent, shared, { user_id: userId, name: shares.nameOf(userId) });
      await shares.delete(target, userId);
      return { success: true, message: `The ${target.kind} is no longer shared with user ${userId}.` };
    });
  }

  /** Lists the owner first, then each other member once, ordered by ID. */
  function listMembers({ target, host }: Shared, cursor: string | undefined): DeviceMember[] {
    const { owner_id } = target;
    const owner: DeviceMember = {
      user_id: owner_id,
      name: shares.nameOf(owner_id),
      role: 'owner',
      through: null,
      accepted: true,
    };
    const after = cursor === owner_id ? '' : (cursor ?? '');
    const members = new Map<string, DeviceMember>();
    for (const shared of host === undefined ? [target] : [host, target])
      for (const { userId, role, isAccepted: accepted } of shares.listMembers(shared)) {
        const known = members.get(userId);
        // The stronger of two roles wins; of two equal roles, the accepted one.
        if (known?.role === 'launch' && role !== 'launch') continue;
        if (known?.role === role && known.accepted) continue;
        const through = shared.kind;
        members.set(userId, { user_id: userId, name: shares.nameOf(userId), role, through, accepted });
      }
    const others = [...members.values()]
      .filter(({ user_id }) => user_id > after)
      .sort((one, other) => (one.user_id < other.user_id ? -1 : 1));
    return cursor === undefined ? [owner, ...others] : others;
  }

  async function share(
    { target, userId, role }: { target: ShareTarget; userId: string; role: ShareRole },
    onSharing: (name: string) => void,
  ): Promise<DeviceMember> {
    if (userId === target.owner_id) {
      const problem = `Path segment user_id is the owner of the ${target.kind}, who cannot have another role`;
      throw ApiError.of('invalid_request', { problem });
    }
    const member = await shares.put({ target, userId, role, now: clock.now() }, onSharing);
    if (member === undefined) throw ApiError.of('user_not_found', { user_id: userId });
    const { name, isAccepted: accepted } = member;
    return { user_id: userId, name, role, through: target.kind, accepted };
  }
}

function onShared(
  auditEvent: AuditEvent,
  { target, name }: Shared,
  member: { user_id: string; name: string; role?: DeviceMember['role'] },
): void {
  const { user_id, name: user_name, role } = member;
  const details = { user_id, user_name, ...(role === undefined ? {} : { role }) };
  auditEvent.on({ type: target.kind, id: target.target_id, name }, [target.owner_id, user_id], details);
}

function requireOwner(isOwner: boolean): void {
  if (isOwner) return;
  throw ApiError.of('forbidden', { reason: 'Only the owner of a phone can share it' });
}
