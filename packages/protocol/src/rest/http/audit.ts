import { Type, type Static } from 'typebox';

import { AuditAction, AuditOutcome, AuditSubject } from '../../audit.ts';
import { EpochMs, Id, TimeInput, Uuid } from '../../ids.ts';
import { JsonObject, type RouteContract } from '../contract.ts';
import { idPageQuery, pageOf } from '../page.ts';

const named = Type.Object({ id: Type.String(), name: Type.String() });

export const AuditEntry = Type.Object(
  {
    id: Uuid,
    at: EpochMs,
    action: AuditAction,
    outcome: AuditOutcome,
    code: Type.Union([Type.String(), Type.Null()], {
      description: 'Error code of a refused or failed action; else null',
    }),
    user: Type.Union([named, Type.Null()], {
      description: 'User who did it; null if the token was not valid',
    }),
    token: Type.Union([named, Type.Null()]),
    address: Type.Union([Type.String(), Type.Null()], {
      description: 'IP address that the request came from',
    }),
    subject: Type.Union([AuditSubject, Type.Null()], {
      description: 'Object of the action, such as a project or a device',
    }),
    details: JsonObject,
    count: Type.Integer({
      minimum: 1,
      description:
        'Number of times. Repeated refusals of one kind share an entry; every other action has an entry of its own',
    }),
    request_id: Type.Union([Type.String(), Type.Null()], { description: 'The `x-request-id` of the reply' }),
  },
  { title: 'AuditEntry' },
);
export type AuditEntry = Static<typeof AuditEntry>;

const filters = {
  user_id: Type.Optional(Id),
  action: Type.Optional(AuditAction),
  outcome: Type.Optional(AuditOutcome),
  subject_id: Type.Optional(Id),
  since: Type.Optional(TimeInput),
  until: Type.Optional(TimeInput),
};

const visible =
  'Administrators with the scope `admin` see all entries. Other users see their own actions and the actions on what they own; a token that is limited to projects sees the actions on these projects.';

/** Audit log of users, their actions, tokens and addresses. */
export const auditRoutes = {
  list: {
    method: 'GET',
    path: '/api/v2/audit',
    operationId: 'listAudit',
    tag: 'Audit',
    summary: 'List the entries of the audit log, newest first',
    description: `${visible} A page may be short although more entries follow: only a \`next_cursor\` of null marks the last page.`,
    scope: 'read',
    reach: { projects: 'within', phones: 'refused' },
    query: Type.Object({ ...idPageQuery, ...filters }),
    responses: { 200: pageOf({ entries: Type.Array(AuditEntry) }) },
  },
  export: {
    method: 'GET',
    path: '/api/v2/audit/export',
    operationId: 'exportAudit',
    tag: 'Audit',
    summary: 'Export the audit log as JSON lines, newest first',
    description: `${visible} Each line is an \`AuditEntry\`.`,
    scope: 'read',
    reach: { projects: 'within', phones: 'refused' },
    query: Type.Object(filters),
    responses: { 200: ['application/x-ndjson'] },
  },
} as const satisfies Record<string, RouteContract>;
