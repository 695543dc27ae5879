import { projectRoutes, type Project, type ProjectMember } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import { v7 as uuidv7 } from 'uuid';

import type { Clock } from '../clock.ts';
import { ApiError } from '../http/api-error.ts';
import type { Principal } from '../http/principal.ts';
import { addRoute } from '../http/route.ts';
import { readers, type ProjectAccess } from './project-access.ts';
import type { ProjectRepositories } from './project-repositories.ts';
import type { ProjectStore, SharedProject } from './store.ts';

interface ProjectRoutesOptions {
  store: ProjectStore;
  access: ProjectAccess;
  repositories: ProjectRepositories;
  clock: Clock;
  /** Told after a project is gone. */
  onDeleted: (projectId: string) => Promise<void>;
}

const pageSize = 100;
// oxlint-disable-next-line no-control-regex
const controlCharacter = /[\u0000-\u001F\u007F-\u009F]/;

/**
 * `GET, POST /automation-project` · `GET, PATCH, DELETE /automation-project/:id` ·
 * `PUT, DELETE /automation-project/:id/members/:user_id`
 */
export function addProjectRoutes(app: FastifyInstance, options: ProjectRoutesOptions): void {
  const { store, access, repositories, clock } = options;

  addRoute(app, projectRoutes.list, async ({ principal, query }) => {
    const rows = await store.listShared({
      userId: principal.userId,
      ids: principal.projectIds,
      cursor: query.cursor?.toLowerCase(),
      limit: pageSize + 1,
    });
    const projects = rows.slice(0, pageSize).map(projectView);
    const nextCursor = rows.length > pageSize ? (projects.at(-1)?.id ?? null) : null;
    return { success: true, projects, next_cursor: nextCursor };
  });

  addRoute(app, projectRoutes.create, async ({ principal, body }) => {
    refuseLimitedToken(principal);
    const id = uuidv7();
    const project = {
      id,
      owner_id: principal.userId,
      name: projectName(body.name),
      created_at: clock.now(),
    };
    await repositories.create(id);
    await store.insert(project);
    return { success: true, project: projectView({ ...project, role: 'owner' }) };
  });

  addRoute(app, projectRoutes.get, async ({ principal, params }) => {
    const project = await access.getProject(principal, params.id, readers);
    return { success: true, project: { ...projectView(project), members: await listMembers(project) } };
  });

  addRoute(app, projectRoutes.rename, async ({ principal, params, body }) => {
    const project = await getOwnProject(principal, params.id);
    const name = projectName(body.name);
    await store.rename(project.id, name);
    return { success: true, project: projectView({ ...project, name }) };
  });

  addRoute(app, projectRoutes.delete, async ({ principal, params }) => {
    const project = await getOwnProject(principal, params.id);
    if (!(await store.delete(project.id))) throw ApiError.of('project_not_found', { project_id: params.id });
    await repositories.remove(project.id);
    await options.onDeleted(project.id);
    return { success: true, message: `Project "${project.name}" was deleted.` };
  });

  addRoute(app, projectRoutes.putMember, async ({ principal, params, body }) => {
    const project = await getOwnProject(principal, params.id);
    const userId = params.user_id.toLowerCase();
    const name = await store.findUserName(userId);
    if (name === undefined) throw ApiError.of('user_not_found', { user_id: params.user_id });
    if (userId === project.owner_id) {
      const problem = 'Path segment user_id is the owner of the project, who needs no other role';
      throw ApiError.of('invalid_request', { problem });
    }
    await store.putMember(project.id, userId, body.role);
    return { success: true, member: { user_id: userId, name, role: body.role } };
  });

  addRoute(app, projectRoutes.deleteMember, async ({ principal, params }) => {
    const userId = params.user_id.toLowerCase();
    const leaves = userId === principal.userId;
    const project = await (leaves
      ? access.getProject(principal, params.id, readers)
      : getOwnProject(principal, params.id));
    if (!(await store.deleteMember(project.id, userId)))
      throw ApiError.of('member_not_found', { user_id: params.user_id, project_id: params.id });
    return { success: true, message: `User ${userId} is no longer a member of "${project.name}".` };
  });

  /** Members know the project, so they are told why; to anyone else it does not exist. */
  async function getOwnProject(principal: Principal, id: string): Promise<SharedProject> {
    const project = await access.getProject(principal, id, readers);
    if (project.role === 'owner') return project;
    throw ApiError.of('forbidden', { reason: 'Only the owner of a project renames, shares or deletes it' });
  }

  async function listMembers(project: SharedProject): Promise<ProjectMember[]> {
    const owner = { user_id: project.owner_id, name: (await store.findUserName(project.owner_id)) ?? '' };
    return [{ ...owner, role: 'owner' }, ...(await store.listMembers(project.id))];
  }
}

function projectView({ id, name, role, owner_id, created_at }: SharedProject): Project {
  const createdAt = new Date(created_at).toISOString();
  return { id, name, role, owner_id, created_at: createdAt, clone_path: `/git/${id}.git` };
}

function projectName(text: string): string {
  const name = text.trim();
  const problem =
    name === ''
      ? 'must not be empty'
      : controlCharacter.test(name)
        ? 'must not contain control characters'
        : name.isWellFormed()
          ? undefined
          : 'must be valid Unicode';
  if (problem === undefined) return name;
  throw ApiError.of('invalid_request', { problem: `Field name ${problem}` });
}

function refuseLimitedToken({ projectIds }: Principal): void {
  if (projectIds === null) return;
  throw ApiError.of('forbidden', {
    reason: 'This token is limited to some projects: it could not use a new one',
  });
}
