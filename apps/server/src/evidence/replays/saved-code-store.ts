import { v7 as uuidv7 } from 'uuid';

import type { Transaction } from '../../storage/db/tables/tables.ts';
import { cancelWork } from '../../storage/db/work-queue.ts';
import { emptyTree, type NoteSaved } from '../../code/projects/saved-state.ts';
import { enqueueReplay, noCounts } from './store.ts';

/**
 * Maximum number of commits per project whose replays have not ended. In a larger burst, only the newest commits get
 * results.
 */
const maxUnendedCommits = 20;

/** Enqueues a replay of a project's new code: a save on open groups, a commit on all screens. */
export const noteSavedCode: NoteSaved = async (transaction, { projectId, before, saved, now }) => {
  const isCommit = saved.head !== undefined && saved.head !== before.head;
  if (!isCommit && saved.files === before.files) return;
  const project = await findProject(transaction, projectId);
  // A commit may add golden screens; a save without screens of groups has nothing to replay.
  if (project === undefined || (!isCommit && project.screen === null)) return;
  const { owner_id: ownerId } = project;
  await stopUnended(transaction, projectId, { cause: 'save', newest: 0, now });
  if (isCommit)
    await stopUnended(transaction, projectId, { cause: 'commit', newest: maxUnendedCommits - 1, now });
  const replay = await transaction
    .insertInto('replay')
    .values({
      id: uuidv7(),
      project_id: projectId,
      owner_id: ownerId,
      tree_id: saved.files ?? emptyTree,
      is_draft: 0,
      group_id: null,
      record_id: null,
      sequence: null,
      commit_hash: isCommit ? (saved.head ?? null) : null,
      screen_set: isCommit ? 'all' : 'open',
      cause: isCommit ? 'commit' : 'save',
      status: 'waiting',
      problem: '',
      made_by: ownerId,
      counts: JSON.stringify(noCounts),
      created_at: now,
      started_at: null,
      ended_at: null,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await enqueueReplay(transaction, replay);
};

/**
 * Finds the project's owner and a screen of its groups, null when there is none. Uses one statement, because each save
 * runs it.
 */
function findProject(
  transaction: Transaction,
  projectId: string,
): Promise<{ owner_id: string; screen: string | null } | undefined> {
  return transaction
    .selectFrom('project')
    .select((build) => [
      'owner_id',
      build
        .selectFrom('group_screen')
        .select('print_key')
        .whereRef('group_screen.owner_id', '=', 'project.owner_id')
        .whereRef('group_screen.automation_id', '=', 'project.id')
        .limit(1)
        .as('screen'),
    ])
    .where('id', '=', projectId)
    .executeTakeFirst();
}

/** Stops all unfinished replays of a cause except the newest ones. */
async function stopUnended(
  transaction: Transaction,
  projectId: string,
  { cause, newest, now }: { cause: 'save' | 'commit'; newest: number; now: number },
): Promise<void> {
  const rows = await transaction
    .selectFrom('replay')
    .select('id')
    .where('project_id', '=', projectId)
    .where('cause', '=', cause)
    .where('ended_at', 'is', null)
    .orderBy('id', 'desc')
    .execute();
  const ids = rows.slice(newest).map(({ id }) => id);
  if (ids.length === 0) return;
  await cancelWork(transaction, 'replay screens', ids);
  await transaction
    .updateTable('replay')
    .set({ status: 'stopped', ended_at: now })
    .where('id', 'in', ids)
    .where('ended_at', 'is', null)
    .execute();
}
