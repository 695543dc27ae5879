import { isAncestor } from '../../git/is-ancestor.ts';
import type { Limits } from '../../limits/limits.ts';
import type { ProjectRepositories } from '../../projects/repositories/project-repositories.ts';

interface OfProject {
  projectId: string;
  /** Whose turn it is to use git. */
  ownerId: string;
}

/** What groups ask of the commits of projects. */
export interface CommitHistory {
  /** Whether a run of the newer commit has what the older one brought. */
  contains(question: OfProject & { older: string; newer: string }): Promise<boolean>;
  /** The commit of the project's history that a hash or its beginning names. */
  find(question: OfProject & { hash: string }): Promise<string | undefined>;
}

export const createCommitHistory = (repositories: ProjectRepositories, limits: Limits): CommitHistory => ({
  contains: ({ projectId, ownerId, older, newer }) =>
    limits.turns.git.run(ownerId, () =>
      repositories.read(projectId, async (repository, { head }) => {
        // A commit that was taken back solves nothing, and of a run that nobody knows nothing is hidden.
        if (!(await isAncestor(repository, { older, newer: head }))) return true;
        if ((await repository.findInfo(newer))?.type !== 'commit') return true;
        return isAncestor(repository, { older, newer });
      }),
    ),

  find: ({ projectId, ownerId, hash }) =>
    limits.turns.git.run(ownerId, () =>
      repositories.read(projectId, async (repository, { head }) => {
        const commit = (await repository.findInfo(`${hash}^{commit}`))?.id;
        if (commit === undefined) return undefined;
        return (await isAncestor(repository, { older: commit, newer: head })) ? commit : undefined;
      }),
    ),
});
