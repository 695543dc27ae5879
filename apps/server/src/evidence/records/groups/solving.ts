import type { Clock } from '../../../kernel/clock.ts';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { type Claim, enqueue } from '../../../storage/db/work-queue.ts';
import { type AutomationAccess, isReviewerOf } from '../access-store.ts';
import type { Changed, GroupChangeStore } from './change-store.ts';
import type { Solution, Solving } from '../../../code/commits/solving.ts';
import type { GroupStore } from './store.ts';
import type { Transaction } from '../../../storage/db/database.ts';
import { isAncestor } from '../../../code/git/git-objects.ts';
import type { Limits } from '../../../kernel/limits/limits.ts';
import type { ProjectRepositories } from '../../../code/projects/repositories/project-repositories.ts';

interface Options {
  store: Pick<GroupStore, 'find'>;
  changeStore: Pick<GroupChangeStore, 'mark'>;
  access: AutomationAccess;
  onMarked: (changed: Changed) => Promise<void>;
  clock: Clock;
}

/** Work kind that marks a group as solved after the commit is stored. */
export const markSolved = 'mark solved groups';
const noted = Compile(
  Type.Object({ group_id: Type.String(), commit_hash: Type.String(), user_id: Type.String() }),
);

const line = /^Solves:?[ \t]+([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})[ \t]*$/gim;
/** Maximum number of solved groups in all commits of one push together. */
const maxSolutions = 100;

type AskingUser = Parameters<Solving['find']>[0];
type CommitMessage = Parameters<Solving['find']>[1][number];

/** Finds the groups that commits solve. `carryOut` marks the groups of a claim. */
export function createSolving({ store, changeStore, access, onMarked, clock }: Options) {
  return {
    async find({ principal, projectId }: AskingUser, commits: readonly CommitMessage[]): Promise<Solution[]> {
      // Refuses the same callers as `PATCH /groups/:id`.
      if (!principal.scopes.has('review') || principal.phones !== null) return [];
      const found: Solution[] = [];
      for (const { hash, groupId } of solutionsIn(commits).slice(0, maxSolutions)) {
        const group = await store.find(groupId);
        if (group?.project_id === projectId && (await isReviewerOf(access, principal, group)))
          found.push({ hash, groupId: group.id });
      }
      return found;
    },

    note: (
      transaction: Transaction,
      { principal }: AskingUser,
      solutions: readonly Solution[],
    ): Promise<void> =>
      enqueue(
        transaction,
        markSolved,
        solutions.map(({ hash, groupId }) => ({
          key: `${groupId} ${hash}`,
          dueAt: clock.now(),
          payload: JSON.stringify({ group_id: groupId, commit_hash: hash, user_id: principal.userId }),
        })),
      ),

    carryOut: async (claim: Claim): Promise<void> => {
      for (const { payload } of claim.items) {
        const {
          group_id: id,
          commit_hash: solvedCommit,
          user_id: userId,
        } = noted.Parse(JSON.parse(payload ?? ''));
        const group = await store.find(id);
        const marking = { status: 'solved', markedAs: 'solved', solvedCommit, claim } as const;
        const changed = group && (await changeStore.mark(group.id, marking, { userId, now: clock.now() }));
        if (changed !== undefined) await onMarked(changed);
      }
    },
  };
}

function solutionsIn(commits: readonly CommitMessage[]): Solution[] {
  const found = new Map<string, Solution>();
  for (const { hash, message } of commits)
    for (const [, id = ''] of message.matchAll(line)) {
      const groupId = id.toLowerCase();
      found.set(`${hash} ${groupId}`, { hash, groupId });
    }
  return [...found.values()];
}

interface AskedProject {
  projectId: string;
  /** User whose turn at git the question uses. */
  ownerId: string;
}

/** Answers questions about the commits of projects, for groups. */
export interface CommitHistory {
  /** Whether a run of the newer commit has the changes of the older one. */
  contains(question: AskedProject & { older: string; newer: string }): Promise<boolean>;
  /** Finds the commit in the project's history by its hash or the beginning of its hash. */
  find(question: AskedProject & { hash: string }): Promise<string | undefined>;
}

export const createCommitHistory = (repositories: ProjectRepositories, limits: Limits): CommitHistory => ({
  contains: ({ projectId, ownerId, older, newer }) =>
    limits.turns.git.run(ownerId, () =>
      repositories.read(projectId, async (repository, { head }) => {
        // A commit that is no longer in the history solves nothing, and a run of an unknown commit must not be hidden.
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
