import type { GroupVerdict, RecordGroup } from '@phalanx/protocol';

import type { Db } from '../../db/database.ts';
import type { StoredGroup } from './membership-store.ts';

type Proof = RecordGroup['proved'];

/** A group has fewer screens. */
const mostVerdicts = 100;

/** What the last replay of code that was saved made of the screens of a group. */
export async function findNewestVerdict(db: Db, groupId: string): Promise<GroupVerdict | null> {
  const replay = await db
    .selectFrom('replay')
    .selectAll()
    .where('status', '=', 'done')
    .where('is_draft', '=', 0)
    .where('id', 'in', (eb) =>
      eb.selectFrom('replay_verdict').select('replay_id').where('group_id', '=', groupId),
    )
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (replay === undefined) return null;
  const outcomes = await listOutcomes(db, groupId, replay.id);
  const count = (wanted: readonly string[]): number =>
    outcomes.filter((outcome) => wanted.includes(outcome)).length;
  return {
    ...{ replay_id: replay.id, commit: replay.commit_hash, cause: replay.cause },
    ended_at: replay.ended_at ?? replay.created_at,
    ...{ screens: outcomes.length, handled: count(['handled']), known: count(['handled', 'recognised']) },
    not_told: count(['not_told']),
  };
}

/** Whether the commits that solve groups know all of their screens, as far as a replay has said so. */
export async function mapProofs(db: Db, groups: readonly StoredGroup[]): Promise<Map<string, Proof>> {
  const proofs = new Map<string, Proof>();
  for (const { id, project_id: projectId, solved_commit: commit, status } of groups) {
    if (status !== 'solved' || projectId === null || commit === null) continue;
    const replay = await db
      .selectFrom('replay')
      .select('id')
      .where('project_id', '=', projectId)
      .where('commit_hash', '=', commit)
      .where('screen_set', '=', 'all')
      .where('group_id', 'is', null)
      .where('status', '=', 'done')
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst();
    if (replay !== undefined) proofs.set(id, proofOf(await listOutcomes(db, id, replay.id)));
  }
  return proofs;
}

function proofOf(outcomes: readonly string[]): Proof {
  if (outcomes.length === 0) return null;
  if (outcomes.every((outcome) => outcome === 'handled')) return 'yes';
  return outcomes.some((outcome) => outcome !== 'not_told' && outcome !== 'handled')
    ? 'no'
    : 'not_replayable';
}

async function listOutcomes(db: Db, groupId: string, replayId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('replay_verdict')
    .select('outcome')
    .where('group_id', '=', groupId)
    .where('replay_id', '=', replayId)
    .limit(mostVerdicts)
    .execute();
  return rows.map(({ outcome }) => outcome);
}
