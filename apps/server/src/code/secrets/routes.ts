import { maxSecretsOfProject, type Secret, secretRoutes } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import { type ProjectAccess, editors, onProject } from '../projects/project-access.ts';
import type { Sealing } from './sealing.ts';
import { placeOf, type SecretStore, type StoredSecret } from './store.ts';
import type { Clock } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { addRoute } from '../../http/requests/route.ts';

interface Options {
  access: ProjectAccess;
  store: SecretStore;
  sealing: Sealing;
  clock: Clock;
}

/** `GET /automation-project/:id/secrets` · `PUT, DELETE /automation-project/:id/secrets/:name` */
export function addSecretRoutes(app: FastifyInstance, { access, store, sealing, clock }: Options): void {
  addRoute(app, secretRoutes.list, async ({ principal, params }) => {
    const project = await access.getProject(principal, params.id, editors);
    return { success: true, secrets: (await store.list(project.id)).map(secretView) };
  });

  addRoute(app, secretRoutes.put, async ({ principal, params: { id, name }, body, auditEvent }) => {
    const project = await access.getProject(principal, id, editors);
    onProject(auditEvent, project, { secret: name });
    // Refuses a value with lone surrogates, because a phone would type a different text.
    if (!body.value.isWellFormed())
      throw ApiError.of('invalid_request', { problem: 'Field value must be valid Unicode' });
    const place = { project_id: project.id, name };
    const sealed = await sealing.seal(body.value, placeOf(place));
    const terms = { max: maxSecretsOfProject, now: clock.now() };
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
