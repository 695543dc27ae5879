import type { Replay, ReplayCounts, ReplaySet } from '@phalanx/protocol';
import type { ExpressionBuilder } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { change } from '../../storage/db/change-note.ts';
import type { Db, Transaction } from '../../storage/db/database.ts';
import { countRows, roomWithin } from '../../storage/db/quota.ts';
import type { Database, Row } from '../../storage/db/tables/tables.ts';
import {
  cancelWork,
  type Claim,
  enqueue,
  finishWork,
  postponeWork,
  renewClaim,
} from '../../storage/db/work-queue.ts';
import { addToOutbox } from '../../storage/db/webhook-outbox.ts';

export type StoredReplay = Row<'replay'>;
export type StoredVerdict = Row<'replay_verdict'>;

// The worker alone writes this column.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
export const countsOf = ({ counts }: StoredReplay): ReplayCounts => JSON.parse(counts) as ReplayCounts;

export interface NewReplay {
  project: { id: string; owner_id: string };
  treeId: string;
  commit: string | null;
  set: ReplaySet;
  groupId: string | null;
  /** Record whose screens are replayed in order; null when each screen is replayed alone. */
  recordId: string | null;
  /** Packed text of a draft. */
  draft: Buffer | undefined;
  madeBy: string;
  now: number;
}

export const noCounts: ReplayCounts = {
  screens: 0,
  replayed: 0,
  known: 0,
  handled: 0,
  recognised: 0,
  broken: 0,
  not_told: 0,
  golden: 0,
  golden_expected: 0,
};

/** Maximum number of unfinished replays per user that the user has requested. */
export const maxUnended = 5;
/** Number of newest replays of sets that are kept per project, not counting those of saves. */
const maxKept = 50;
/** Number of newest draft replays that are kept per project. The same holds for record replays. */
const maxOthersKept = 10;
/** Number of newest replays of saves that are kept per project. The older one shows what the newest one changes. */
const maxSavesKept = 2;
/** Maximum number of earlier replays that determine which screens were known before. */
const maxBefore = 5;

export interface ReplayEnd {
  status: Replay['status'];
  problem: string;
  sequence?: string | null;
  now: number;
}

/** Replay that this server is making. */
export interface Attempt {
  readonly claim: Claim;
  readonly replay: StoredReplay;
}

/** Interval at which the replay of a commit checks whether older ones on other servers have ended. */
const olderCommitLookMs = 1000;

export type ReplayStore = ReturnType<typeof createReplayStore>;

/** Creates the store of replays and the verdicts on their screens. */
export function createReplayStore(db: Db) {
  return {
    /** Stores and enqueues a replay. Returns undefined when the user has too many unfinished replays. */
    create: (given: NewReplay): Promise<StoredReplay | undefined> =>
      change(db, async (transaction) => {
        const wished = transaction.selectFrom('replay').where('cause', '=', 'request');
        const unended = wished.where('made_by', '=', given.madeBy).where('ended_at', 'is', null);
        const quota = { kind: 'replays', owner: given.madeBy, max: maxUnended };
        if ((await roomWithin(transaction, quota, () => countRows(unended))) < 1) return undefined;
        const { project, treeId: tree_id, commit: commit_hash, set: screen_set, madeBy: made_by } = given;
        const { draft, groupId: group_id, recordId: record_id } = given;
        const replay = await transaction
          .insertInto('replay')
          .values({
            id: uuidv7(),
            project_id: project.id,
            owner_id: project.owner_id,
            tree_id,
            commit_hash,
            is_draft: draft === undefined ? 0 : 1,
            group_id,
            record_id,
            sequence: null,
            screen_set,
            cause: 'request',
            status: 'waiting',
            problem: '',
            made_by,
            counts: JSON.stringify(noCounts),
            created_at: given.now,
            started_at: null,
            ended_at: null,
          })
          .returningAll()
          .executeTakeFirstOrThrow();
        if (draft !== undefined)
          await transaction
            .insertInto('replay_draft')
            .values({ replay_id: replay.id, content: draft })
            .execute();
        await enqueueReplay(transaction, replay);
        return replay;
      }),

    /** Finds the packed draft of a replay. Returns undefined when the replay has ended. */
    findDraft: async (id: string): Promise<Buffer | undefined> => {
      const query = db.selectFrom('replay_draft').select('content').where('replay_id', '=', id);
      return (await query.executeTakeFirst())?.content;
    },

    find: (id: string): Promise<StoredReplay | undefined> =>
      db.selectFrom('replay').selectAll().where('id', '=', id).executeTakeFirst(),

    list: (projectId: string, cursor: string | undefined, limit: number): Promise<StoredReplay[]> => {
      let query = db.selectFrom('replay').selectAll().where('project_id', '=', projectId);
      if (cursor !== undefined) query = query.where('id', '<', cursor);
      return query.orderBy('id', 'desc').limit(limit).execute();
    },

    listVerdicts: (
      id: string,
      wish: { onlyChanged: boolean; groupId: string | undefined; after: number; limit: number },
    ): Promise<StoredVerdict[]> => {
      const { onlyChanged, groupId, after, limit } = wish;
      let query = db
        .selectFrom('replay_verdict')
        .selectAll()
        .where('replay_id', '=', id)
        .where('position', '>', after);
      if (onlyChanged) query = query.where('change', '!=', 'unchanged');
      if (groupId !== undefined) query = query.where('group_id', '=', groupId);
      return query.orderBy('position').limit(limit).execute();
    },

    /** Stops a replay and returns it. A replay that has ended stays unchanged. */
    stop: (id: string, now: number): Promise<StoredReplay | undefined> =>
      change(db, async (transaction) => {
        await cancelWork(transaction, 'replay screens', [id]);
        await transaction
          .updateTable('replay')
          .set({ status: 'stopped', ended_at: now })
          .where('id', '=', id)
          .where('ended_at', 'is', null)
          .execute();
        await deleteDraft(transaction, id);
        return transaction.selectFrom('replay').selectAll().where('id', '=', id).executeTakeFirst();
      }),

    /**
     * Starts a claimed replay from the beginning. Postpones a commit while older ones of its project are unfinished.
     * Returns undefined when the replay was postponed or has ended, or the claim was lost.
     */
    async begin(claim: Claim, now: number): Promise<Attempt | undefined> {
      const id = idOf(claim);
      const query = db.selectFrom('replay').selectAll().where('id', '=', id).where('ended_at', 'is', null);
      const replay = await query.executeTakeFirst();
      if (replay === undefined) return undefined;
      if (replay.cause === 'commit' && (await hasOlderCommit(db, replay))) {
        await postponeWork(db, claim, { dueAt: now + olderCommitLookMs, problem: '' });
        return undefined;
      }
      const attempt = { claim, replay };
      const begun = {
        status: 'running' as const,
        problem: '',
        started_at: now,
        counts: JSON.stringify(noCounts),
      };
      const isBegun = await renewClaim(db, claim, claim.until, async (transaction) => {
        await transaction.deleteFrom('replay_verdict').where('replay_id', '=', id).execute();
        return update(transaction, attempt, begun);
      });
      return isBegun ? attempt : undefined;
    },

    /**
     * Adds verdicts and renews the claim. Returns false when the replay was stopped or another server has claimed it.
     */
    proceed: (
      attempt: Attempt,
      {
        until,
        counts,
        verdicts,
      }: { until: number; counts: ReplayCounts; verdicts: readonly StoredVerdict[] },
    ): Promise<boolean> =>
      renewClaim(db, attempt.claim, until, async (transaction) => {
        if (!(await update(transaction, attempt, { counts: JSON.stringify(counts) }))) return false;
        if (verdicts.length > 0) await transaction.insertInto('replay_verdict').values(verdicts).execute();
        return true;
      }),

    /** Postpones the replay to `until`, with the reason as its problem. */
    postpone: (attempt: Attempt, { until, problem }: { until: number; problem: string }): Promise<boolean> =>
      postponeWork(db, attempt.claim, { dueAt: until, problem }, (transaction) =>
        update(transaction, attempt, { status: 'waiting', problem, started_at: null }),
      ),

    /** Ends a replay and deletes old replays of its project. */
    end: (attempt: Attempt, { status, problem, sequence = null, now }: ReplayEnd): Promise<boolean> =>
      finishWork(db, attempt.claim, async (transaction) => {
        const { replay } = attempt;
        if (!(await update(transaction, attempt, { status, problem, sequence, ended_at: now }))) return false;
        await deleteDraft(transaction, replay.id);
        await enqueueFinished(transaction, replay, now);
        const causes = ['request', 'commit'] as const;
        for (const old of [
          { causes: ['save'] as const, of: 'sets' as const, kept: maxSavesKept },
          { causes, of: 'sets' as const, kept: maxKept },
          { causes, of: 'drafts' as const, kept: maxOthersKept },
          { causes, of: 'records' as const, kept: maxOthersKept },
        ])
          await deleteOld(transaction, replay.project_id, old);
        return true;
      }),

    /**
     * Maps each screen, by name, to its outcome in the last replays of other code. Replays of saves and commits
     * consider commits only. Replays of drafts and records are never considered.
     */
    async mapBefore({
      id,
      project_id,
      tree_id,
      cause,
      group_id: groupId,
    }: StoredReplay): Promise<Map<string, StoredVerdict['outcome']>> {
      const replays = await db
        .selectFrom('replay')
        .select('id')
        .where('project_id', '=', project_id)
        .where('id', '<', id)
        .where('tree_id', '!=', tree_id)
        .where('status', '=', 'done')
        .where('is_draft', '=', 0)
        .where('record_id', 'is', null)
        .where((of) => of.or([of('group_id', 'is', null), of('group_id', '=', groupId)]))
        .$if(cause !== 'request', (query) => query.where('commit_hash', 'is not', null))
        .orderBy('id', 'desc')
        .limit(maxBefore)
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

/** Enqueues a replay. A server makes one replay per user and cause at a time. */
export const enqueueReplay = (
  transaction: Transaction,
  { id, made_by: userId, cause, created_at: dueAt }: StoredReplay,
): Promise<void> => enqueue(transaction, 'replay screens', [{ key: id, lane: `${userId} ${cause}`, dueAt }]);

/** Returns the ID of the one replay of a claim. */
const idOf = ({ items }: Claim): string => items.map(({ key }) => key).join('');

/** Whether an older commit of the project has an unfinished replay. */
async function hasOlderCommit(db: Db, { id, project_id: projectId }: StoredReplay): Promise<boolean> {
  const older = await db
    .selectFrom('replay')
    .select('id')
    .where('project_id', '=', projectId)
    .where('id', '<', id)
    .where('cause', '=', 'commit')
    .where('ended_at', 'is', null)
    .limit(1)
    .executeTakeFirst();
  return older !== undefined;
}

/** Changes an unfinished replay. Returns false when it has ended or was deleted. */
async function update(
  transaction: Transaction,
  { replay }: Attempt,
  changes: Partial<StoredReplay>,
): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable('replay')
    .set(changes)
    .where('id', '=', replay.id)
    .where('ended_at', 'is', null)
    .executeTakeFirst();
  if (numUpdatedRows > 0n) Object.assign(replay, changes);
  return numUpdatedRows > 0n;
}

/** Enqueues the webhook event for the end of a replay of a set, unless a save caused it. */
async function enqueueFinished(transaction: Transaction, replay: StoredReplay, at: number): Promise<void> {
  const { project_id: automationId, owner_id: ownerId, cause, status } = replay;
  const isReported = cause !== 'save' && replay.is_draft === 0 && replay.record_id === null;
  if (!isReported || (status !== 'done' && status !== 'failed')) return;
  const query = transaction.selectFrom('project').select('name').where('id', '=', automationId);
  const { name } = await query.executeTakeFirstOrThrow();
  const { screens, known, recognised, broken, not_told } = countsOf(replay);
  const data = {
    replay_id: replay.id,
    automation_id: automationId,
    automation_name: name,
    commit: replay.commit_hash,
    cause,
    status,
    problem: replay.problem,
    screens,
    known,
    recognised,
    broken,
    not_told,
  };
  const audience = { kind: 'record', ownerId, automationId, isDirect: false } as const;
  await addToOutbox(transaction, 'replay.finished', [{ at, data, audience }]);
}

const deleteDraft = (transaction: Transaction, replayId: string): Promise<unknown> =>
  transaction.deleteFrom('replay_draft').where('replay_id', '=', replayId).execute();

interface OldReplays {
  causes: readonly StoredReplay['cause'][];
  /** Kind of replays, each with a limit of its own. */
  of: 'sets' | 'drafts' | 'records';
  kept: number;
}

/** Deletes old replays, except the newest ones and those that have not ended. */
async function deleteOld(
  transaction: Transaction,
  projectId: string,
  { causes, of, kept }: OldReplays,
): Promise<void> {
  const isOf = (eb: ExpressionBuilder<Database, 'replay'>) =>
    eb.and([
      eb('project_id', '=', projectId),
      eb('cause', 'in', causes),
      eb('record_id', of === 'records' ? 'is not' : 'is', null),
      ...(of === 'records' ? [] : [eb('is_draft', '=', of === 'drafts' ? 1 : 0)]),
    ]);
  const oldest = await transaction
    .selectFrom('replay')
    .select('id')
    .where(isOf)
    .orderBy('id', 'desc')
    .offset(kept)
    .limit(1)
    .executeTakeFirst();
  if (oldest === undefined) return;
  await transaction
    .deleteFrom('replay')
    .where(isOf)
    .where('id', '<=', oldest.id)
    .where('ended_at', 'is not', null)
    .execute();
}
