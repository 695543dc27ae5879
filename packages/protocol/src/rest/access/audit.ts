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
    code: Type.Union([Type.String(), Type.Null()], { description: 'Why it was refused or failed' }),
    user: Type.Union([named, Type.Null()], { description: 'Null when the token was no good' }),
    token: Type.Union([named, Type.Null()]),
    address: Type.Union([Type.String(), Type.Null()], { description: 'Where the request came from' }),
    subject: Type.Union([AuditSubject, Type.Null()], { description: 'What it was done to' }),
    details: JsonObject,
    count: Type.Integer({
      minimum: 1,
      description: 'How often, when refusals of one kind came in numbers; of everything else each is noted',
    }),
    request_id: Type.Union([Type.String(), Type.Null()], { description: 'As the reply had it' }),
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
  'Administrators with the scope `admin` see everything, others what they did and what was done to what is theirs; a token that is limited to projects sees what was done to these.';

/** The audit log: users, their actions, tokens and addresses. */
export const auditRoutes = {
  list: {
    method: 'GET',
    path: '/api/v2/audit',
    operationId: 'listAudit',
    tag: 'Audit',
    summary: 'List who did what, newest first',
    description: `${visible} A page may be short although more follows: only \`next_cursor\` tells the end.`,
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
    summary: 'Read all of it as JSON lines, newest first',
    description: `${visible} Each line is an \`AuditEntry\`.`,
    scope: 'read',
    reach: { projects: 'within', phones: 'refused' },
    query: Type.Object(filters),
    responses: { 200: ['application/x-ndjson'] },
  },
} as const satisfies Record<string, RouteContract>;
