import { reachesProject } from '../../http/requests/policy.ts';
import type { ProjectRole } from '@phalanx/protocol';

import { ApiError } from '../../kernel/errors/api-error.ts';
import type { AuditEvent } from '../../http/requests/audit-event.ts';
import type { Principal } from '../../http/requests/principal.ts';
import type { ProjectStore, SharedProject } from './store.ts';
import { Cached } from '../../kernel/cached.ts';

export type { SharedProject } from './store.ts';

export interface ProjectAccess {
  /**
   * Returns the project. Throws `project_not_found` unless the caller has one of these roles and the token may access
   * the project.
   */
  getProject(principal: Principal, id: string, roles: readonly ProjectRole[]): Promise<SharedProject>;
  /** Finds the project. Undefined when the caller has no role in it or the token may not access it. */
  findProject(principal: Principal, id: string): Promise<SharedProject | undefined>;
}

export const readers: readonly ProjectRole[] = ['owner', 'shared_editor', 'shared_viewer'];
export const editors: readonly ProjectRole[] = ['owner', 'shared_editor'];

/**
 * Checks access to projects. Administrators have no access to projects of others: they manage users, not their content.
 */
export function createProjectAccess(store: ProjectStore): ProjectAccess {
  const findProject = async (principal: Principal, id: string): Promise<SharedProject | undefined> => {
    const known = id.toLowerCase();
    if (!reachesProject(principal, known)) return undefined;
    return store.findShared(principal.userId, known);
  };
  return {
    findProject,
    async getProject(principal, id, roles) {
      const project = await findProject(principal, id);
      if (project === undefined || !roles.includes(project.role))
        throw ApiError.of('project_not_found', { project_id: id });
      return project;
    },
  };
}

/** Sets the project as the subject of an audit event, which its owner may read. */
export function onProject(
  auditEvent: AuditEvent,
  { id, name, owner_id: ownerId }: { id: string; name: string; owner_id: string },
  details: Record<string, unknown> = {},
): void {
  auditEvent.on({ type: 'project', id, name }, [ownerId], details);
}

type Roles = ReadonlyMap<string, ProjectRole>;

interface People {
  readonly roles: Roles;
  readonly accepted: ReadonlySet<string>;
}

const maxRemembered = 10_000;

/** Cache of users' roles in projects, because every reader of logs and events needs them. */
export class ProjectPeople {
  readonly #store: ProjectStore;
  readonly #known = new Cached<People>(maxRemembered);

  constructor(store: ProjectStore) {
    this.#store = store;
  }

  /** Returns the roles in a project. Empty when there is no such project. */
  async of(projectId: string): Promise<Roles> {
    return (await this.#read(projectId)).roles;
  }

  /** Returns the owner and the members who have accepted the project. Other members receive nothing of it unasked. */
  async acceptedOf(projectId: string): Promise<ReadonlySet<string>> {
    return (await this.#read(projectId)).accepted;
  }

  #read(projectId: string): Promise<People> {
    return this.#known.get(projectId, async () => {
      const rows = await this.#store.listRoles(projectId);
      return {
        roles: new Map(rows.map(({ user_id: userId, role }) => [userId, role])),
        accepted: new Set(rows.flatMap(({ user_id: userId, isAccepted }) => (isAccepted ? [userId] : []))),
      };
    });
  }

  /** Clears the cache. Call it when the members of any project have changed, or a project was deleted. */
  forgetAll(): void {
    this.#known.forgetAll();
  }
}
