import { Type, type Static } from 'typebox';

import { EpochMs, Id } from '../../ids.ts';
import { secretLength, SecretName } from '../../secrets.ts';
import { success, SuccessMessage, type RouteContract } from '../contract.ts';

export const Secret = Type.Object(
  {
    name: Type.String(),
    version: Type.Integer({ description: 'Grows by one with each new value' }),
    created_at: EpochMs,
    updated_at: EpochMs,
  },
  { title: 'Secret' },
);
export type Secret = Static<typeof Secret>;

const path = '/api/v2/automation-project/:id/secrets';
const params = Type.Object({ id: Id, name: SecretName });

/** Values that a project's automations read, and nobody else. */
export const secretRoutes = {
  list: {
    method: 'GET',
    path,
    operationId: 'listSecrets',
    tag: 'Projects',
    summary: 'List the names of a project’s secrets (owner, editors)',
    description: 'A project has at most 100 secrets. No endpoint returns a value.',
    scope: 'read',
    reach: { projects: 'within', phones: 'refused' },
    params: Type.Object({ id: Id }),
    responses: { 200: Type.Object({ success, secrets: Type.Array(Secret) }) },
    errors: ['project_not_found'],
  },
  put: {
    method: 'PUT',
    path: `${path}/:name`,
    operationId: 'putSecret',
    tag: 'Projects',
    summary: 'Store a secret, or give it a new value (owner, editors)',
    description:
      'Automations of the project read it by `agent.secrets.get(name)`. A run has the value of the moment of its launch. Phalanx replaces known values by `[secret]` in logs, results, errors, records and UI trees, and covers them in pictures.',
    scope: 'edit',
    reach: { projects: 'within', phones: 'refused' },
    audit: 'set_secret',
    params,
    body: Type.Object({
      value: Type.String({ minLength: secretLength.min, maxLength: secretLength.max }),
    }),
    bodyExample: { value: 'correct horse battery staple' },
    responses: { 200: Type.Object({ success, secret: Secret }) },
    errors: ['project_not_found', 'too_many_secrets', 'secrets_unavailable'],
  },
  delete: {
    method: 'DELETE',
    path: `${path}/:name`,
    operationId: 'deleteSecret',
    tag: 'Projects',
    summary: 'Delete a secret (owner, editors)',
    description: 'Runs that have begun keep it until they end.',
    scope: 'edit',
    reach: { projects: 'within', phones: 'refused' },
    audit: 'delete_secret',
    params,
    responses: { 200: SuccessMessage },
    errors: ['project_not_found', 'secret_not_found'],
  },
} as const satisfies Record<string, RouteContract>;
