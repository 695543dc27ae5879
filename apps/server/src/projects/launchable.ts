import type { ProjectFiles } from '../compile/project-mirror.ts';
import type { Principal } from '../http/principal.ts';
import { editors, type ProjectAccess } from './project-access.ts';
import { createProjectFiles } from './project-files.ts';
import type { ProjectRepositories } from './project-repositories.ts';
import { isDirty, readSavedState } from './saved-state.ts';

/** A project as it is at one moment; what is written later does not change it. */
export interface Launchable {
  readonly projectId: string;
  readonly ownerId: string;
  readonly name: string;
  /** The newest commit. */
  readonly commit: string | null;
  /** Whether the files differ from those of `commit`. */
  readonly dirty: boolean;
  readonly files: ProjectFiles;
}

export type GetLaunchable = (projectId: string, principal: Principal) => Promise<Launchable>;

/** Throws `project_not_found` also for those who may only read it: launching takes an editor. */
export function createGetLaunchable(access: ProjectAccess, repositories: ProjectRepositories): GetLaunchable {
  return async (projectId, principal) => {
    const { id, name, owner_id: ownerId } = await access.getProject(principal, projectId, editors);
    return repositories.read(id, async (repository) => {
      const state = await readSavedState(repository);
      return {
        projectId: id,
        ownerId,
        name,
        commit: state.head ?? null,
        dirty: await isDirty(repository, state),
        files: {
          ...createProjectFiles(id, state.files, (work) => repositories.read(id, work)),
          userId: principal.userId,
        },
      };
    });
  };
}
