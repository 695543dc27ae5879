import { Type, type Static } from 'typebox';

import { EpochMs, Id, Uuid } from '../../ids.ts';
import { accepted } from './accepted.ts';
import { nullable, success, SuccessMessage, type RouteContract } from '../contract.ts';
import { idPageQuery, pageOf, pageQuery } from '../page.ts';

/** Roles of a member for a phone: `view` sees it and its screen, `launch` also launches and stops on it. */
export const shareRoles = ['view', 'launch'] as const;
export const ShareRole = Type.Enum(shareRoles);
export type ShareRole = Static<typeof ShareRole>;

/** Role of a caller for a phone or a host. The owner also shares and forgets it. */
export const DeviceRole = Type.Enum(['owner', ...shareRoles], { title: 'DeviceRole' });
export type DeviceRole = Static<typeof DeviceRole>;

export const UserName = Type.Object({ id: Uuid, name: Type.String() }, { title: 'UserName' });

export const DeviceMember = Type.Object(
  {
    user_id: Uuid,
    name: Type.String(),
    role: DeviceRole,
    through: Type.Union([Type.Enum(['device', 'host']), Type.Null()], {
      description:
        'The share that gives the role: `device` for this device alone, `host` for all devices of its host; null for the owner',
    }),
    accepted,
  },
  { title: 'DeviceMember' },
);
export type DeviceMember = Static<typeof DeviceMember>;

export const Host = Type.Object(
  {
    id: Uuid,
    name: Type.String(),
    connected: Type.Boolean(),
    since: Type.Union([EpochMs, Type.Null()], {
      description: 'When the host connected, or disconnected if it is not connected; null: unknown',
    }),
    problem: nullable(
      Type.String({
        description:
          'Why the host finds no devices, and what to do about it, such as when no adb server runs; null: no known problem',
      }),
    ),
    devices: Type.Object({ total: Type.Integer(), ready: Type.Integer() }),
    role: DeviceRole,
    accepted,
    owner: UserName,
  },
  { title: 'Host' },
);
export type Host = Static<typeof Host>;

const params = Type.Object({ id: Id });
const memberParams = Type.Object({ id: Id, user_id: Id });

/** Returns the same three routes for one phone, and for all phones of a host, including later ones. */
const memberRoutes = <Path extends string, Name extends string, Kind extends 'device' | 'host'>(
  path: Path,
  name: Name,
  what: string,
  kind: Kind,
) =>
  ({
    listMembers: {
      method: 'GET',
      path: `${path}/:id/members`,
      operationId: `list${name}Members`,
      tag: 'Devices',
      summary: `List the members of ${what}, owner first`,
      scope: 'read',
      reach: { projects: 'open', phones: 'refused' },
      params,
      query: Type.Object(idPageQuery),
      responses: { 200: pageOf({ members: Type.Array(DeviceMember) }) },
      errors: [`${kind}_not_found`],
    },
    putMember: {
      method: 'PUT',
      path: `${path}/:id/members/:user_id`,
      operationId: `put${name}Member`,
      tag: 'Devices',
      summary: `Share ${what} with a user, or change their role (owner)`,
      scope: 'edit',
      reach: { projects: 'refused', phones: 'refused' },
      audit: `share_${kind}`,
      params: memberParams,
      body: Type.Object({ role: ShareRole }),
      responses: { 200: Type.Object({ success, member: DeviceMember }) },
      errors: [`${kind}_not_found`, 'user_not_found'],
    },
    deleteMember: {
      method: 'DELETE',
      path: `${path}/:id/members/:user_id`,
      operationId: `delete${name}Member`,
      tag: 'Devices',
      summary: `Stop sharing ${what} with a user (owner, or the member)`,
      description:
        'The user gets no more events of it at once. Runs that they have started continue until they end or are stopped. A member who leaves a host whose ID several owners share with them must send `owner_id`.',
      scope: 'edit',
      reach: { projects: 'refused', phones: 'refused' },
      audit: `unshare_${kind}`,
      params: memberParams,
      query: Type.Object({
        owner_id: Type.Optional(Uuid),
      }),
      responses: { 200: SuccessMessage },
      errors: [`${kind}_not_found`, 'share_not_found'],
    },
  }) as const satisfies Record<string, RouteContract>;

/** Users with whom a phone is shared. */
export const deviceMemberRoutes = memberRoutes('/api/v2/devices', 'Device', 'a device', 'device');

/** Hosts, and the users with whom all their phones are shared. */
export const hostRoutes = {
  list: {
    method: 'GET',
    path: '/api/v2/hosts',
    operationId: 'listHosts',
    tag: 'Devices',
    summary: 'List your hosts and those that are shared with you',
    scope: 'read',
    reach: { projects: 'open', phones: 'refused' },
    query: Type.Object(pageQuery),
    responses: { 200: pageOf({ hosts: Type.Array(Host) }) },
  },
  ...memberRoutes('/api/v2/hosts', 'Host', 'all devices of a host', 'host'),
} as const satisfies Record<string, RouteContract>;
