import { projectRoutes, type Project, type ProjectMember } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import { v7 as uuidv7 } from 'uuid';
import type { Clock } from '../../kernel/clock.ts';
import { isUniqueViolation } from '../../storage/db/dialect.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import type { Principal } from '../../http/requests/principal.ts';
import { readPage } from '../../http/requests/replies/page.ts';
import { requireName } from '../../http/requests/require-name.ts';
import { addRoute } from '../../http/requests/route.ts';
import type { Limits } from '../../kernel/limits/limits.ts';
import { onProject, type ProjectAccess, readers } from './project-access.ts';
import type { ProjectRepositories } from './repositories/project-repositories.ts';
import type { ProjectStore, SharedProject, NewProject } from './store.ts';

interface ProjectRoutesOptions {
  store: ProjectStore;
  access: ProjectAccess;
  repositories: ProjectRepositories;
  clock: Clock;
  limits: Limits;
  /** Called after a project was deleted. */
  onDeleted: (projectId: string) => Promise<void>;
}

/**
 * `GET, POST /automation-project` · `GET, PATCH, DELETE /automation-project/:id` ·
 * `GET /automation-project/:id/members` · `PUT, DELETE /automation-project/:id/members/:user_id`
 */
export function addProjectRoutes(app: FastifyInstance, options: ProjectRoutesOptions): void {
  const { store, access, clock, limits } = options;
  limits.registerUsage('projects', (userId) => store.countOwned(userId));

  addRoute(app, projectRoutes.list, async ({ principal, query }) => {
    const { userId, projectIds: ids } = principal;
    const { name, search } = query;
    const { items, next_cursor } = await readPage(
      query,
      (part) => store.listShared({ ...part, userId, ids, name, search }),
      ({ id }) => id,
    );
    return { success: true, projects: items.map(projectView), next_cursor };
  });

  addRoute(app, projectRoutes.create, async ({ principal, body, auditEvent }) => {
    const id = uuidv7();
    const project = {
      id,
      owner_id: principal.userId,
      name: requireName(body.name),
      created_at: clock.now(),
    };
    onProject(auditEvent, project);
    await insert(project).catch((error: unknown) => {
      throw explainName(error, project.name);
    });
    return {
      success: true,
      project: projectView({ ...project, changed_at: null, role: 'owner', isAccepted: true }),
    };
  });

  addRoute(app, projectRoutes.get, async ({ principal, params }) => {
    const project = await access.getProject(principal, params.id, readers);
    return {
      success: true,
      project: { ...projectView(project), members: (await listMembers(project, {})).items },
    };
  });

  addRoute(app, projectRoutes.rename, async ({ principal, params, body, auditEvent }) => {
    const project = await getOwnProject(principal, params.id);
    const name = requireName(body.name);
    onProject(auditEvent, project, { name });
    await store.rename(project.id, name).catch((error: unknown) => {
      throw explainName(error, name);
    });
    return { success: true, project: projectView({ ...project, name }) };
  });

  addRoute(app, projectRoutes.delete, async ({ principal, params, auditEvent }) => {
    const project = await getOwnProject(principal, params.id);
    onProject(auditEvent, project);
    if (!(await deleteProject(options, project.id)))
      throw ApiError.of('project_not_found', { project_id: params.id });
    return { success: true, message: `Project "${project.name}" was deleted.` };
  });

  addRoute(app, projectRoutes.listMembers, async ({ principal, params, query }) => {
    const project = await access.getProject(principal, params.id, readers);
    const { items, next_cursor } = await listMembers(project, query);
    return { success: true, members: items, next_cursor };
  });

  addRoute(app, projectRoutes.putMember, async ({ principal, params, body, auditEvent }) => {
    const project = await getOwnProject(principal, params.id);
    const userId = params.user_id.toLowerCase();
    const name = await store.findUserName(userId);
    if (name === undefined) throw ApiError.of('user_not_found', { user_id: params.user_id });
    if (userId === project.owner_id) {
      const problem = 'Path segment user_id is the owner of the project, who cannot have another role';
      throw ApiError.of('invalid_request', { problem });
    }
    onProject(auditEvent, project, { user_id: userId, user_name: name, role: body.role });
    auditEvent.concerned.add(userId);
    const { role } = body;
    const { isAccepted } = await store.putMember({ projectId: project.id, userId, role, now: clock.now() });
    return { success: true, member: { user_id: userId, name, role, accepted: isAccepted } };
  });

  addRoute(app, projectRoutes.deleteMember, async ({ principal, params, auditEvent }) => {
    const userId = params.user_id.toLowerCase();
    const leaves = userId === principal.userId;
    const project = await (leaves
      ? access.getProject(principal, params.id, readers)
      : getOwnProject(principal, params.id));
    onProject(auditEvent, project, { user_id: userId });
    auditEvent.concerned.add(userId);
    if (!(await store.deleteMember(project.id, userId)))
      throw ApiError.of('member_not_found', { user_id: params.user_id, project_id: params.id });
    return { success: true, message: `User ${userId} is no longer a member of "${project.name}".` };
  });

  async function insert(project: NewProject): Promise<void> {
    if (await store.insertWithin(project, limits.limitOf('projects'))) return;
    throw limits.refusal('projects', project.owner_id);
  }

  /**
   * Finds a project that the caller owns. Members get `forbidden` with the reason, because they know the project. All
   * others get `project_not_found`.
   */
  async function getOwnProject(principal: Principal, id: string): Promise<SharedProject> {
    const project = await access.getProject(principal, id, readers);
    if (project.role === 'owner') return project;
    throw ApiError.of('forbidden', { reason: 'Only the owner of a project can rename, share or delete it' });
  }

  /** Lists the owner first, then the members. */
  async function listMembers({ id, owner_id }: SharedProject, query: { cursor?: string; limit?: number }) {
    const owner: ProjectMember = {
      user_id: owner_id,
      name: (await store.findUserName(owner_id)) ?? '',
      role: 'owner',
      accepted: true,
    };
    return readPage(
      query,
      async ({ cursor, limit }) => {
        const others = await store.listMembers(id, cursor === owner_id ? '' : (cursor ?? ''), limit);
        return cursor === undefined ? [owner, ...others] : others;
      },
      ({ user_id }) => user_id,
    );
  }
}

function projectView({ isAccepted: accepted, ...project }: SharedProject): Project {
  const { id, name, role, owner_id, created_at, changed_at } = project;
  return { id, name, role, accepted, owner_id, created_at, changed_at, clone_path: `/git/${id}.git` };
}

const explainName = (error: unknown, name: string): unknown =>
  isUniqueViolation(error) ? ApiError.of('project_name_taken', { name }, { cause: error }) : error;

interface ProjectDeletion {
  repositories: ProjectRepositories;
  /** Called after the project was deleted. */
  onDeleted: (projectId: string) => Promise<void>;
}

/** Deletes a project with its files and commits. False when it was already deleted. */
export async function deleteProject(
  { repositories, onDeleted }: ProjectDeletion,
  id: string,
): Promise<boolean> {
  if (!(await repositories.delete(id))) return false;
  await onDeleted(id);
  return true;
}
