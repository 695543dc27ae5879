import { Type, type Static } from 'typebox';

import { EpochMs, Id, Uuid } from '../../ids.ts';
import { accepted } from '../fleet/accepted.ts';
import { searchText } from '../search-text.ts';
import { nullable, success, SuccessMessage, type RouteContract } from '../contract.ts';
import { pageOf, idPageQuery } from '../page.ts';

/** Roles of a member in a project: an editor reads, writes, commits and launches; a viewer only reads. */
export const memberRoles = ['shared_editor', 'shared_viewer'] as const;
export const MemberRole = Type.Enum(memberRoles);
export type MemberRole = Static<typeof MemberRole>;

/** Role of a caller in a project. The owner also renames, shares and deletes it. */
export const ProjectRole = Type.Enum(['owner', ...memberRoles], { title: 'ProjectRole' });
export type ProjectRole = Static<typeof ProjectRole>;

const name = Type.String({ minLength: 1, maxLength: 200 });

const projectFields = {
  id: Uuid,
  name: Type.String(),
  role: ProjectRole,
  accepted,
  owner_id: Uuid,
  created_at: EpochMs,
  changed_at: nullable(
    Type.Integer({
      ...EpochMs,
      description:
        'When its files, commits, branches or tags were last changed; null before the first change',
    }),
  ),
  clone_path: Type.String({
    description:
      'Path of the git repository at this service. Git signs in with any user name and an API token as the password',
  }),
};

/** Project as returned to the caller. */
export const Project = Type.Object(projectFields, { title: 'Project' });
export type Project = Static<typeof Project>;

export const ProjectMember = Type.Object(
  { user_id: Uuid, name: Type.String(), role: ProjectRole, accepted },
  { title: 'ProjectMember' },
);
export type ProjectMember = Static<typeof ProjectMember>;

const params = Type.Object({ id: Id });
const memberParams = Type.Object({ id: Id, user_id: Id });

/** Projects and their members. */
export const projectRoutes = {
  list: {
    method: 'GET',
    path: '/api/v2/automation-project',
    operationId: 'listProjects',
    tag: 'Projects',
    summary: 'List the projects that you own or that are shared with you, newest first',
    scope: 'read',
    reach: { projects: 'within', phones: 'none' },
    query: Type.Object({
      ...idPageQuery,
      name: Type.Optional(Type.String({ description: 'The full name, case-insensitive' })),
      search: Type.Optional(searchText('Part of the name, case-insensitive')),
    }),
    responses: { 200: pageOf({ projects: Type.Array(Project) }) },
  },
  create: {
    method: 'POST',
    path: '/api/v2/automation-project',
    operationId: 'createProject',
    tag: 'Projects',
    summary: 'Create a project',
    description:
      'The new project is empty; write `main.ts` next. A token that is limited to projects cannot create projects.',
    scope: 'edit',
    reach: { projects: 'refused', phones: 'none' },
    audit: 'create_project',
    body: Type.Object({ name }),
    responses: { 201: Type.Object({ success, project: Project }) },
    errors: ['project_name_taken', 'too_many_projects'],
  },
  get: {
    method: 'GET',
    path: '/api/v2/automation-project/:id',
    operationId: 'getProject',
    tag: 'Projects',
    summary: 'Read one project, with its first 100 members',
    scope: 'read',
    reach: { projects: 'within', phones: 'none' },
    params,
    responses: {
      200: Type.Object({
        success,
        project: Type.Object({ ...projectFields, members: Type.Array(ProjectMember) }),
      }),
    },
    errors: ['project_not_found'],
  },
  rename: {
    method: 'PATCH',
    path: '/api/v2/automation-project/:id',
    operationId: 'renameProject',
    tag: 'Projects',
    summary: 'Rename a project (owner)',
    scope: 'edit',
    reach: { projects: 'refused', phones: 'refused' },
    audit: 'rename_project',
    params,
    body: Type.Object({ name }),
    responses: { 200: Type.Object({ success, project: Project }) },
    errors: ['project_not_found', 'project_name_taken'],
  },
  delete: {
    method: 'DELETE',
    path: '/api/v2/automation-project/:id',
    operationId: 'deleteProject',
    tag: 'Projects',
    summary: 'Delete a project with its files and commits (owner)',
    scope: 'edit',
    reach: { projects: 'refused', phones: 'refused' },
    audit: 'delete_project',
    params,
    responses: { 200: SuccessMessage },
    errors: ['project_not_found'],
  },
  listMembers: {
    method: 'GET',
    path: '/api/v2/automation-project/:id/members',
    operationId: 'listProjectMembers',
    tag: 'Projects',
    summary: 'List the members of a project, owner first',
    scope: 'read',
    reach: { projects: 'within', phones: 'refused' },
    params,
    query: Type.Object(idPageQuery),
    responses: { 200: pageOf({ members: Type.Array(ProjectMember) }) },
    errors: ['project_not_found'],
  },
  putMember: {
    method: 'PUT',
    path: '/api/v2/automation-project/:id/members/:user_id',
    operationId: 'putProjectMember',
    tag: 'Projects',
    summary: 'Share a project with a user, or change their role (owner)',
    scope: 'edit',
    reach: { projects: 'refused', phones: 'refused' },
    audit: 'share_project',
    params: memberParams,
    body: Type.Object({ role: MemberRole }),
    responses: { 200: Type.Object({ success, member: ProjectMember }) },
    errors: ['project_not_found', 'user_not_found'],
  },
  deleteMember: {
    method: 'DELETE',
    path: '/api/v2/automation-project/:id/members/:user_id',
    operationId: 'deleteProjectMember',
    tag: 'Projects',
    summary: 'Stop sharing a project with a user (owner, or the member)',
    scope: 'edit',
    reach: { projects: 'refused', phones: 'refused' },
    audit: 'unshare_project',
    params: memberParams,
    responses: { 200: SuccessMessage },
    errors: ['project_not_found', 'member_not_found'],
  },
} as const satisfies Record<string, RouteContract>;
