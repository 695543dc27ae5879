import { secretRecipientRoutes } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import type { Principal } from '../../http/requests/principal.ts';
import { readPage } from '../../http/requests/replies/page.ts';
import { addRoute } from '../../http/requests/route.ts';
import { editors, onProject, type ProjectAccess, type SharedProject } from '../projects/project-access.ts';
import type { RecipientStore } from './recipient-store.ts';

interface Options {
  access: ProjectAccess;
  store: RecipientStore;
  clock: Clock;
}

/** `GET /automation-project/:id/secret-recipients` · `PUT, DELETE /automation-project/:id/secret-recipients/:user_id` */
export function addRecipientRoutes(app: FastifyInstance, { access, store, clock }: Options): void {
  addRoute(app, secretRecipientRoutes.list, async ({ principal, params, query }) => {
    const { id } = await access.getProject(principal, params.id, editors);
    const { items, next_cursor } = await readPage(
      query,
      ({ cursor = '', limit }) => store.list(id, cursor, limit),
      ({ user_id }) => user_id,
    );
    return { success: true, recipients: items, next_cursor };
  });

  addRoute(app, secretRecipientRoutes.put, async ({ principal, params, auditEvent }) => {
    const project = await getOwn(principal, params.id);
    const userId = params.user_id.toLowerCase();
    const name = await store.findUserName(userId);
    if (name === undefined) throw ApiError.of('user_not_found', { user_id: params.user_id });
    onProject(auditEvent, project, { user_id: userId, user_name: name });
    const added_at = await store.put({ projectId: project.id, userId }, clock.now());
    return { success: true, recipient: { user_id: userId, name, added_at } };
  });

  addRoute(app, secretRecipientRoutes.delete, async ({ principal, params, auditEvent }) => {
    const project = await getOwn(principal, params.id);
    const userId = params.user_id.toLowerCase();
    onProject(auditEvent, project, { user_id: userId });
    if (!(await store.delete({ projectId: project.id, userId })))
      throw ApiError.of('secret_recipient_not_found', { user_id: params.user_id, project_id: params.id });
    return {
      success: true,
      message: `Hosts of user ${userId} no longer get the secrets of "${project.name}".`,
    };
  });

  async function getOwn(principal: Principal, id: string): Promise<SharedProject> {
    const project = await access.getProject(principal, id, editors);
    if (project.role === 'owner') return project;
    throw ApiError.of('forbidden', {
      reason: 'Only the owner of a project can choose whose hosts get its secrets',
    });
  }
}
