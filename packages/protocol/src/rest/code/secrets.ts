import { Type, type Static } from 'typebox';

import { EpochMs, Id, Uuid } from '../../ids.ts';
import { secretLength, SecretName } from '../../secrets.ts';
import { success, SuccessMessage, type RouteContract } from '../contract.ts';
import { idPageQuery, pageOf } from '../page.ts';

export const Secret = Type.Object(
  {
    name: Type.String(),
    version: Type.Integer({
      description: 'Version of the value, which increases by one with each new value',
    }),
    created_at: EpochMs,
    updated_at: EpochMs,
  },
  { title: 'Secret' },
);
export type Secret = Static<typeof Secret>;

const path = '/api/v2/automation-project/:id/secrets';
const params = Type.Object({ id: Id, name: SecretName });

/** Secrets of a project, whose values only its automations can read. */
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
      'Automations of the project read it with `agent.secrets.get(name)`. A run gets the value that was stored at its launch. Phalanx replaces the values with `[secret]` in logs, results, errors, records and UI trees, and covers them in pictures.',
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
    description: 'Runs that have started keep the value until they end.',
    scope: 'edit',
    reach: { projects: 'within', phones: 'refused' },
    audit: 'delete_secret',
    params,
    responses: { 200: SuccessMessage },
    errors: ['project_not_found', 'secret_not_found'],
  },
} as const satisfies Record<string, RouteContract>;

/** User whose hosts receive the secrets of a project, in addition to its owner and editors. */
export const SecretRecipient = Type.Object(
  { user_id: Uuid, name: Type.String(), added_at: EpochMs },
  { title: 'SecretRecipient' },
);
export type SecretRecipient = Static<typeof SecretRecipient>;

const recipientPath = '/api/v2/automation-project/:id/secret-recipients';
const recipientParams = Type.Object({ id: Id, user_id: Id });

/** Recipients of the secrets of a project. */
export const secretRecipientRoutes = {
  list: {
    method: 'GET',
    path: recipientPath,
    operationId: 'listSecretRecipients',
    tag: 'Projects',
    summary: 'List the users whose hosts get the secrets of a project (owner, editors)',
    description:
      'The hosts of the owner and the editors get them as well. On devices of any other host, a project with secrets cannot be launched (`secrets_withheld`).',
    scope: 'read',
    reach: { projects: 'within', phones: 'refused' },
    params: Type.Object({ id: Id }),
    query: Type.Object(idPageQuery),
    responses: { 200: pageOf({ recipients: Type.Array(SecretRecipient) }) },
    errors: ['project_not_found'],
  },
  put: {
    method: 'PUT',
    path: `${recipientPath}/:user_id`,
    operationId: 'putSecretRecipient',
    tag: 'Projects',
    summary: 'Let the hosts of a user get the secrets of a project (owner)',
    description: 'The owner of a host can read the secrets that it gets.',
    scope: 'edit',
    reach: { projects: 'refused', phones: 'refused' },
    audit: 'add_secret_recipient',
    params: recipientParams,
    responses: { 200: Type.Object({ success, recipient: SecretRecipient }) },
    errors: ['project_not_found', 'user_not_found'],
  },
  delete: {
    method: 'DELETE',
    path: `${recipientPath}/:user_id`,
    operationId: 'deleteSecretRecipient',
    tag: 'Projects',
    summary: 'Keep the secrets of a project from the hosts of a user (owner)',
    description: 'Runs that have started keep the secrets that they got, so give the secrets new values.',
    scope: 'edit',
    reach: { projects: 'refused', phones: 'refused' },
    audit: 'remove_secret_recipient',
    params: recipientParams,
    responses: { 200: SuccessMessage },
    errors: ['project_not_found', 'secret_recipient_not_found'],
  },
} as const satisfies Record<string, RouteContract>;
