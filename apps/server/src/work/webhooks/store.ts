import { type SelectQueryBuilder, sql } from 'kysely';
import { change } from '../../storage/db/change-note.ts';
import type { Db } from '../../storage/db/database.ts';
import { countRows, roomWithin } from '../../storage/db/quota.ts';
import { textsIn } from '../../storage/db/dialect.ts';
import type { Database, Row } from '../../storage/db/tables/tables.ts';
import type { SealedColumn, SealedRow } from '../../code/secrets/sealing.ts';
import { enqueueMessages } from './enqueue-messages.ts';

export type StoredWebhook = Row<'webhook'>;
export type WebhookChange = Partial<Omit<StoredWebhook, 'id' | 'user_id' | 'token_projects' | 'created_at'>>;

/** User whose webhooks a caller sees; null selects all users. */
export interface WebhookOwner {
  readonly userId: string | null;
  /** Projects that the caller's token is limited to, as a webhook stores them. */
  readonly tokenProjects: string | null;
}

interface Page {
  cursor: string | undefined;
  limit: number;
}

export type WebhookStore = ReturnType<typeof createWebhookStore>;

type WebhookQuery = SelectQueryBuilder<Database, 'webhook', StoredWebhook>;

/** Creates the store of webhooks. */
export function createWebhookStore(db: Db) {
  const seenBy = ({ userId, tokenProjects }: WebhookOwner): WebhookQuery => {
    let query = db.selectFrom('webhook').selectAll();
    if (userId !== null) query = query.where('user_id', '=', userId);
    if (tokenProjects !== null) query = query.where('token_projects', '=', tokenProjects);
    return query;
  };
  return {
    /** Stores a webhook. Returns false when the user has reached the maximum. */
    insert: (webhook: StoredWebhook, max: number): Promise<boolean> =>
      change(db, async (transaction) => {
        const own = transaction.selectFrom('webhook').where('user_id', '=', webhook.user_id);
        const quota = { kind: 'webhooks', owner: webhook.user_id, max };
        if ((await roomWithin(transaction, quota, () => countRows(own))) < 1) return false;
        await transaction.insertInto('webhook').values(webhook).execute();
        return true;
      }),

    find: (id: string, owner: WebhookOwner): Promise<StoredWebhook | undefined> =>
      seenBy(owner).where('id', '=', id).executeTakeFirst(),

    list: (owner: WebhookOwner, { cursor, limit }: Page): Promise<StoredWebhook[]> => {
      const query = seenBy(owner).orderBy('id', 'desc').limit(limit);
      return (cursor === undefined ? query : query.where('id', '<', cursor)).execute();
    },

    /** Counts waiting deliveries by webhook. Webhooks without any are missing. */
    async countWaiting(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
      const rows = await db
        .selectFrom('webhook_delivery')
        .select(['webhook_id', (eb) => eb.fn.countAll<number>().as('count')])
        .where('webhook_id', 'in', textsIn(db, ids))
        .where('status', '=', 'waiting')
        .groupBy('webhook_id')
        .execute();
      return new Map(rows.map(({ webhook_id: id, count }) => [id, count]));
    },

    /**
     * Changes a webhook. Enqueues its waiting deliveries, because they may have waited for this change. `isFresh`
     * deletes its known absences and run problems.
     */
    update: (
      { id, user_id }: StoredWebhook,
      changes: WebhookChange,
      { now, isFresh = false }: { now: number; isFresh?: boolean },
    ): Promise<boolean> =>
      change(db, async (transaction) => {
        await enqueueMessages(transaction, { id, user_id }, now);
        const query = transaction.updateTable('webhook').set(changes).where('id', '=', id);
        const { numUpdatedRows } = await query.executeTakeFirst();
        if (isFresh) await transaction.deleteFrom('webhook_absence').where('webhook_id', '=', id).execute();
        return numUpdatedRows > 0n;
      }),

    delete: (id: string): Promise<boolean> =>
      change(db, async (transaction) => {
        const query = transaction.deleteFrom('webhook').where('id', '=', id);
        return (await query.executeTakeFirst()).numDeletedRows > 0n;
      }),
  };
}

/** Returns the place of a webhook's keys. Encrypted keys cannot be moved to another place. */
export const placeOf = (webhookId: string): string => `webhook ${webhookId}`;

const sealedColumns = ['sealed', 'earlier_sealed'] as const;

/** Returns the sealed keys, for a rotation of the service's own key. */
export const sealedWebhookKeys = (db: Db): SealedColumn => ({
  async listOfOtherKeys(keyId, limit) {
    const [current, earlier] = sealedColumns.map((column) =>
      db
        .selectFrom('webhook')
        .select(['id', sql<string>`${sql.ref(column)}`.as('text')])
        .where(column, 'not like', `v1.${keyId}.%`)
        .limit(limit)
        .execute(),
    );
    const rows = [...((await current) ?? []), ...((await earlier) ?? [])];
    return rows.map(({ id, text }) => ({ place: placeOf(id), sealed: text }));
  },

  async replace(before: SealedRow, sealed: string) {
    for (const column of sealedColumns)
      await db
        .updateTable('webhook')
        .set({ [column]: sealed })
        .where(column, '=', before.sealed)
        .execute();
  },
});
