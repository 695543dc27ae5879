import { type RawBuilder, sql, type SqlBool } from 'kysely';
import type { Db } from '../../storage/db/database.ts';
import type { Row } from '../../storage/db/tables/tables.ts';
import { transact } from '../../storage/db/transactions.ts';
import { insertDeliveries, type News } from './delivery-store.ts';
import type { StoredWebhook } from './store.ts';
import { textsIn } from '../../storage/db/dialect.ts';
import { beginningOfUuidV7 } from '../../kernel/uuid-v7.ts';

export type StoredAbsence = Row<'webhook_absence'>;

export interface AbsenceChanges {
  readonly begun: readonly StoredAbsence[];
  readonly told: readonly StoredAbsence[];
  readonly ended: readonly StoredAbsence[];
  readonly news: readonly News[];
}

const isAbsence = ({ webhook_id, kind, target_id }: StoredAbsence): RawBuilder<SqlBool> =>
  sql`webhook_id = ${webhook_id} AND kind = ${kind} AND target_id = ${target_id}`;

export type AbsenceStore = ReturnType<typeof createAbsenceStore>;

/** What webhooks know to be away or amiss. */
export function createAbsenceStore(db: Db) {
  return {
    /** The webhooks that watch something of these, such as `device.`. */
    listWatching: (...prefixes: readonly string[]): Promise<StoredWebhook[]> =>
      db
        .selectFrom('webhook')
        .selectAll()
        .where('paused', '=', 0)
        .where((eb) => eb.or(prefixes.map((prefix) => eb('events', 'like', `%"${prefix}%`))))
        .orderBy('user_id')
        .execute(),

    list: (webhookId: string, kinds: readonly StoredAbsence['kind'][]): Promise<StoredAbsence[]> =>
      db
        .selectFrom('webhook_absence')
        .selectAll()
        .where('webhook_id', '=', webhookId)
        .where('kind', 'in', kinds)
        .execute(),

    /** With the deliveries that tell of it. Throws when another server has noted some of it. */
    note: (webhook: StoredWebhook, changes: AbsenceChanges, now: number): Promise<void> =>
      transact(db, async (transaction) => {
        for (const row of changes.begun)
          await transaction.insertInto('webhook_absence').values(row).execute();
        for (const row of changes.told)
          await transaction
            .updateTable('webhook_absence')
            .set({ is_told: 1 })
            .where(isAbsence(row))
            .execute();
        for (const row of changes.ended)
          await transaction.deleteFrom('webhook_absence').where(isAbsence(row)).execute();
        await insertDeliveries(transaction, { webhook, news: changes.news, now });
      }),
  };
}

/** Whose runs are meant. */
export interface RunsOf {
  readonly userId: string;
  /** Null: of all projects, and direct code. */
  readonly projectIds: readonly string[] | null;
}

interface RunCounts {
  readonly ended: number;
  /** Of those. */
  readonly failed: number;
}

const ended = ['completed', 'failed', 'timed_out', 'lost'] as const;

export type RunWatchStore = ReturnType<typeof createRunWatchStore>;

/** What runs of a user came to. */
export function createRunWatchStore(db: Db) {
  const runsOf = ({ userId, projectIds }: RunsOf) => {
    const query = db.selectFrom('run').where('user_id', '=', userId);
    return projectIds === null ? query : query.where('automation_id', 'in', textsIn(db, projectIds));
  };
  return {
    /** Of runs that were launched since then; those that were stopped do not count. */
    async count(of: RunsOf, since: number): Promise<RunCounts> {
      const isSuccess = sql`(coalesce(outcome, 'succeeded') = 'succeeded' AND status = 'completed')`;
      const row = await runsOf(of)
        .select((eb) => [
          eb.fn.countAll<number>().as('ended'),
          sql<number>`coalesce(sum(CASE WHEN ${isSuccess} THEN 0 ELSE 1 END), 0)`.as('failed'),
        ])
        .where('ended_at', 'is not', null)
        .where('status', 'in', ended)
        .where('id', '>', beginningOfUuidV7(since))
        .executeTakeFirstOrThrow();
      return { ended: Number(row.ended), failed: Number(row.failed) };
    },

    findLast: (of: RunsOf): Promise<{ id: string; created_at: number } | undefined> =>
      runsOf(of).select(['id', 'created_at']).orderBy('id', 'desc').limit(1).executeTakeFirst(),
  };
}
