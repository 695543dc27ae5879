import type { Replay, ReplayCounts, ReplaySet } from '@phalanx/protocol';
import { v7 as uuidv7 } from 'uuid';

import { change } from '../db/change-notes.ts';
import type { Db, Transaction } from '../db/database.ts';
import { serialize } from '../db/locks.ts';
import { transact } from '../db/transact.ts';
import type { Row } from '../db/tables.ts';

export type StoredReplay = Row<'replay'>;
export type StoredVerdict = Row<'replay_verdict'>;

export interface NewReplay {
  project: { id: string; owner_id: string };
  treeId: string;
  commit: string | null;
  set: ReplaySet;
  madeBy: string;
  now: number;
}

export const noCounts: ReplayCounts = {
  ...{ screens: 0, replayed: 0, known: 0, recognised: 0, broken: 0, not_told: 0 },
};

/** Of one user, that have not ended. */
export const mostUnended = 5;
/** Of a project, the newest ones. */
const mostKept = 50;
/** That say what was known before. */
const mostBefore = 5;

export type ReplayStore = ReturnType<typeof createReplayStore>;

/** Replays and what became of each screen. */
export function createReplayStore(db: Db) {
  return {
    /** Undefined: the user has too many that have not ended. */
    create: (given: NewReplay): Promise<StoredReplay | undefined> =>
      change(db, async (transaction) => {
        await serialize(transaction, `replays of ${given.madeBy}`);
        const { count } = await transaction
          .selectFrom('replay')
          .select((eb) => eb.fn.countAll<number>().as('count'))
          .where('made_by', '=', given.madeBy)
          .where('ended_at', 'is', null)
          .executeTakeFirstOrThrow();
        if (count >= mostUnended) return undefined;
        const { project, treeId: tree_id, commit: commit_hash, set: screen_set, madeBy: made_by } = given;
        return transaction
          .insertInto('replay')
          .values({
            ...{ id: uuidv7(), project_id: project.id, owner_id: project.owner_id, tree_id, commit_hash },
            ...{ screen_set, status: 'waiting', problem: '', made_by, counts: JSON.stringify(noCounts) },
            ...{ created_at: given.now, started_at: null, ended_at: null, claimed_until: 0 },
          })
          .returningAll()
          .executeTakeFirstOrThrow();
      }),

    find: (id: string): Promise<StoredReplay | undefined> =>
      db.selectFrom('replay').selectAll().where('id', '=', id).executeTakeFirst(),

    list: (projectId: string, cursor: string | undefined, limit: number): Promise<StoredReplay[]> => {
      let query = db.selectFrom('replay').selectAll().where('project_id', '=', projectId);
      if (cursor !== undefined) query = query.where('id', '<', cursor);
      return query.orderBy('id', 'desc').limit(limit).execute();
    },

    listVerdicts: (
      id: string,
      { onlyChanged, after, limit }: { onlyChanged: boolean; after: number; limit: number },
    ): Promise<StoredVerdict[]> => {
      let query = db
        .selectFrom('replay_verdict')
        .selectAll()
        .where('replay_id', '=', id)
        .where('position', '>', after);
      if (onlyChanged) query = query.where('change', '!=', 'unchanged');
      return query.orderBy('position').limit(limit).execute();
    },

    /** As it is then; one that has ended stays as it is. */
    stop: (id: string, now: number): Promise<StoredReplay | undefined> =>
      change(db, async (transaction) => {
        await transaction
          .updateTable('replay')
          .set({ status: 'stopped', ended_at: now })
          .where('id', '=', id)
          .where('ended_at', 'is', null)
          .execute();
        return transaction.selectFrom('replay').selectAll().where('id', '=', id).executeTakeFirst();
      }),

    /** At which nobody is, the oldest first. */
    listDue: (now: number, limit: number): Promise<StoredReplay[]> =>
      db
        .selectFrom('replay')
        .selectAll()
        .where('ended_at', 'is', null)
        .where('claimed_until', '<=', now)
        .orderBy('id')
        .limit(limit)
        .execute(),

    /** Takes it, and begins it anew. False: another server has it. */
    claim: (replay: StoredReplay, until: number, now: number): Promise<boolean> =>
      transact(db, async (transaction) => {
        const changes = { status: 'running' as const, started_at: now, counts: JSON.stringify(noCounts) };
        if (!(await renew(transaction, replay, { claimed_until: until, ...changes }))) return false;
        await transaction.deleteFrom('replay_verdict').where('replay_id', '=', replay.id).execute();
        return true;
      }),

    /** Adds verdicts and keeps the replay. False: it was stopped, or another server has it. */
    proceed: (
      replay: StoredReplay,
      {
        until,
        counts,
        verdicts,
      }: { until: number; counts: ReplayCounts; verdicts: readonly StoredVerdict[] },
    ): Promise<boolean> =>
      transact(db, async (transaction) => {
        const changes = { claimed_until: until, counts: JSON.stringify(counts) };
        if (!(await renew(transaction, replay, changes))) return false;
        if (verdicts.length > 0) await transaction.insertInto('replay_verdict').values(verdicts).execute();
        return true;
      }),

    /** The old ones of the project go. */
    end: (
      replay: StoredReplay,
      { status, problem, now }: { status: Replay['status']; problem: string; now: number },
    ): Promise<boolean> =>
      transact(db, async (transaction) => {
        if (!(await renew(transaction, replay, { status, problem, ended_at: now }))) return false;
        const ofProject = transaction.selectFrom('replay').where('project_id', '=', replay.project_id);
        const oldest = await ofProject
          .select('id')
          .orderBy('id', 'desc')
          .offset(mostKept)
          .limit(1)
          .executeTakeFirst();
        if (oldest !== undefined)
          await transaction
            .deleteFrom('replay')
            .where('project_id', '=', replay.project_id)
            .where('id', '<=', oldest.id)
            .where('ended_at', 'is not', null)
            .execute();
        return true;
      }),

    /** What the last replays of other code made of each screen, by its name. */
    async mapBefore({
      id,
      project_id,
      tree_id,
    }: StoredReplay): Promise<Map<string, StoredVerdict['outcome']>> {
      const replays = await db
        .selectFrom('replay')
        .select('id')
        .where('project_id', '=', project_id)
        .where('id', '<', id)
        .where('tree_id', '!=', tree_id)
        .where('status', '=', 'done')
        .orderBy('id', 'desc')
        .limit(mostBefore)
        .execute();
      const outcomes = new Map<string, StoredVerdict['outcome']>();
      for (const one of replays.toReversed()) {
        const rows = await db
          .selectFrom('replay_verdict')
          .select(['name', 'outcome'])
          .where('replay_id', '=', one.id)
          .execute();
        for (const { name, outcome } of rows) outcomes.set(name, outcome);
      }
      return outcomes;
    },
  };
}

/** Whoever claims a replay writes another time, so only one server has the time that is stored. */
async function renew(
  transaction: Transaction,
  replay: StoredReplay,
  changes: Partial<StoredReplay>,
): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable('replay')
    .set(changes)
    .where('id', '=', replay.id)
    .where('claimed_until', '=', replay.claimed_until)
    .where('ended_at', 'is', null)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  Object.assign(replay, changes);
  return true;
}
