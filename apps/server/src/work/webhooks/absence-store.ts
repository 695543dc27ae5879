import { type RawBuilder, sql, type SqlBool } from 'kysely';
import type { Db } from '../../storage/db/database.ts';
import type { Row } from '../../storage/db/tables/tables.ts';
import { transact } from '../../storage/db/transactions.ts';
import { insertDeliveries, type DeliveryEvent } from './delivery-store.ts';
import type { StoredWebhook } from './store.ts';

export type StoredAbsence = Row<'webhook_absence'>;

export interface AbsenceChanges {
  readonly begun: readonly StoredAbsence[];
  readonly reported: readonly StoredAbsence[];
  readonly ended: readonly StoredAbsence[];
  readonly events: readonly DeliveryEvent[];
}

const isAbsence = ({ webhook_id, kind, target_id }: StoredAbsence): RawBuilder<SqlBool> =>
  sql`webhook_id = ${webhook_id} AND kind = ${kind} AND target_id = ${target_id}`;

export type AbsenceStore = ReturnType<typeof createAbsenceStore>;

/** Creates the store of absences and problems that webhooks know of. */
export function createAbsenceStore(db: Db) {
  return {
    /** Lists active webhooks with an event that begins with one of the prefixes, such as `device.`. */
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

    /**
     * Stores changes with the deliveries that report them. Throws when another server has already stored a new absence.
     */
    note: (webhook: StoredWebhook, changes: AbsenceChanges, now: number): Promise<void> =>
      transact(db, async (transaction) => {
        for (const row of changes.begun)
          await transaction.insertInto('webhook_absence').values(row).execute();
        for (const row of changes.reported)
          await transaction
            .updateTable('webhook_absence')
            .set({ is_told: 1 })
            .where(isAbsence(row))
            .execute();
        for (const row of changes.ended)
          await transaction.deleteFrom('webhook_absence').where(isAbsence(row)).execute();
        await insertDeliveries(transaction, { webhook, events: changes.events, now });
      }),
  };
}

export const ended = ['completed', 'failed', 'timed_out', 'lost'] as const;
