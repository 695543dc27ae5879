import { Type, type Static } from 'typebox';

import { EpochMs, Id, Uuid } from '../../ids.ts';
import { ShareRole, shareRoles, UserName } from '../fleet/members.ts';
import { nullable, success, type RouteContract } from '../contract.ts';
import { pageOf, pageQuery } from '../page.ts';
import { MemberRole, memberRoles } from './projects.ts';

const shareKinds = ['device', 'host', 'project'] as const;
export const ShareKind = Type.Enum(shareKinds, { title: 'ShareKind' });
export type ShareKind = Static<typeof ShareKind>;

const shareStates = ['waiting', 'accepted'] as const;
export const ShareState = Type.Enum(shareStates);
export type ShareState = Static<typeof ShareState>;

/** Phone, all phones of a host, or project that another user shares with the caller. */
export const ReceivedShare = Type.Object(
  {
    kind: ShareKind,
    id: Id,
    name: Type.String({
      description: 'Name of the device, host or project; for a device without a name, its serial number',
    }),
    owner: UserName,
    role: Type.Union([ShareRole, MemberRole]),
    shared_at: nullable(EpochMs),
    accepted_at: Type.Union([EpochMs, Type.Null()], {
      description: 'When you accepted the share; null: not yet accepted',
    }),
  },
  { title: 'ReceivedShare' },
);
export type ReceivedShare = Static<typeof ReceivedShare>;

/** Shares that the caller has received. */
export const shareRoutes = {
  list: {
    method: 'GET',
    path: '/api/v2/shares',
    operationId: 'listShares',
    tag: 'Devices',
    summary: 'List the devices, hosts and projects that others share with you',
    description:
      'A share waits until you accept it. Before that, you may use it by its ID, but it is left out of selectors, pools, jobs, schedules, replays on your hosts, statistics and webhooks. To refuse or leave a share, delete yourself as a member of the device, host or project.',
    scope: 'read',
    reach: { projects: 'refused', phones: 'refused' },
    query: Type.Object({ ...pageQuery, state: Type.Optional(ShareState) }),
    responses: { 200: pageOf({ shares: Type.Array(ReceivedShare) }) },
  },
  accept: {
    method: 'POST',
    path: '/api/v2/shares/accept',
    operationId: 'acceptShare',
    tag: 'Devices',
    summary: 'Accept a device, host or project that is shared with you',
    description:
      'Accepting a host accepts all its devices, including later ones. A share that is changed to a weaker role stays accepted; one that is changed to a stronger role, or removed and shared again, must be accepted again. With `role`, only that role is accepted: if the owner has changed it since you read it, the request fails with `share_changed`. `owner_id` is needed for a host whose ID several owners share with you.',
    scope: 'edit',
    reach: { projects: 'refused', phones: 'refused' },
    audit: 'accept_share',
    body: Type.Object({
      kind: ShareKind,
      id: Id,
      owner_id: Type.Optional(Uuid),
      role: Type.Optional(
        Type.Enum([...shareRoles, ...memberRoles], {
          description: 'The role that you expect. Default: any role',
        }),
      ),
    }),
    responses: { 200: Type.Object({ success, share: ReceivedShare }) },
    errors: ['share_not_found', 'share_changed'],
  },
} as const satisfies Record<string, RouteContract>;
