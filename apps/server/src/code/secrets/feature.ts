import { type LaunchSecrets, maxSecretsOfProject, type Secret, secretRoutes } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';

import { addBackgroundJob } from '../../storage/background-job.ts';
import type { Context } from '../../http/context.ts';
import { type ProjectAccess, editors, onProject } from '../projects/project-access.ts';
import { type SealedColumn, Sealing } from './sealing.ts';
import {
  createSealingKeyStore,
  createSecretStore,
  placeOf,
  sealedSecrets,
  type SecretStore,
  type StoredSecret,
} from './store.ts';
import type { Clock } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { addRoute } from '../../http/requests/route.ts';
import { addRecipientRoutes } from './recipient-routes.ts';
import { createRecipientStore } from './recipient-store.ts';
import { SecretGrants } from './secret-grants.ts';

interface Secrets {
  /** Encrypts what other features must not store in clear. */
  readonly sealing: Sealing;
  /** The values of a project's secrets, by name, for looking for them on this server. Throws `secrets_unavailable`. */
  readonly secretsOf: (projectId: string) => Promise<LaunchSecrets>;
  /** The way to hosts. */
  readonly grants: SecretGrants;
}

interface SecretDependencies {
  access: ProjectAccess;
  nameOf: (userId: string) => string;
}

/** Secrets of projects. `others`: what other features have stored encrypted. */
export function openSecrets(
  context: Context,
  { access, nameOf }: SecretDependencies,
  others: readonly SealedColumn[],
): Secrets {
  const { app, clock, config, database } = context;
  const store = createSecretStore(database);
  const sealing = new Sealing({ file: config.secretsKeyFile, store: createSealingKeyStore(database) });
  for (const column of [sealedSecrets(database), ...others]) sealing.add(column);
  addSecretRoutes(app, { access, store, sealing, clock });
  addBackgroundJob(context, {
    name: 'seal secrets with the new key',
    everyMs: 24 * 60 * 60 * 1000,
    atStart: true,
    work: () => sealing.resealOld(),
  });
  const secretsOf = async (projectId: string): Promise<LaunchSecrets> => {
    const rows = await store.list(projectId);
    const values = rows.map(
      async (row) => [row.name, await sealing.unseal({ sealed: row.sealed, place: placeOf(row) })] as const,
    );
    return Object.fromEntries(await Promise.all(values));
  };
  const recipients = createRecipientStore(database);
  addRecipientRoutes(app, { access, store: recipients, clock });
  const grants = new SecretGrants({ recipients, secretsOf, nameOf });
  return { sealing, secretsOf, grants };
}

interface Options {
  access: ProjectAccess;
  store: SecretStore;
  sealing: Sealing;
  clock: Clock;
}

/** `GET /automation-project/:id/secrets` · `PUT, DELETE /automation-project/:id/secrets/:name` */
function addSecretRoutes(app: FastifyInstance, { access, store, sealing, clock }: Options): void {
  addRoute(app, secretRoutes.list, async ({ principal, params }) => {
    const project = await access.getProject(principal, params.id, editors);
    return { success: true, secrets: (await store.list(project.id)).map(secretView) };
  });

  addRoute(app, secretRoutes.put, async ({ principal, params: { id, name }, body, auditEvent }) => {
    const project = await access.getProject(principal, id, editors);
    onProject(auditEvent, project, { secret: name });
    // Another value than the given one would be typed.
    if (!body.value.isWellFormed())
      throw ApiError.of('invalid_request', { problem: 'Field value must be valid Unicode' });
    const place = { project_id: project.id, name };
    const sealed = await sealing.seal(body.value, placeOf(place));
    const terms = { most: maxSecretsOfProject, now: clock.now() };
    const secret = await store.put({ ...place, sealed }, terms);
    if (secret === undefined) throw ApiError.of('too_many_secrets', {});
    return { success: true, secret: secretView(secret) };
  });

  addRoute(app, secretRoutes.delete, async ({ principal, params: { id, name }, auditEvent }) => {
    const project = await access.getProject(principal, id, editors);
    onProject(auditEvent, project, { secret: name });
    if (!(await store.delete(project.id, name)))
      throw ApiError.of('secret_not_found', { project_id: id, name });
    return { success: true, message: `Secret ${name} was deleted.` };
  });
}

const secretView = ({ name, version, created_at, updated_at }: StoredSecret): Secret => ({
  name,
  version,
  created_at,
  updated_at,
});
