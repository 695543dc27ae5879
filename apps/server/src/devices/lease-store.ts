import type { Db } from '../db/database.ts';
import type { Row } from '../db/tables.ts';

export type StoredLease = Row<'device_lease'>;
export type LeaseStore = ReturnType<typeof createLeaseStore>;

/** Who has which phone in hand, where several servers have to agree on it. PostgreSQL's. */
export function createLeaseStore(db: Db) {
  return {
    list: (): Promise<StoredLease[]> => db.selectFrom('device_lease').selectAll().execute(),

    /** False: somebody else has it in hand. `insteadOf`: whose lease counts no more. */
    async take(lease: StoredLease, now: number, insteadOf: string | undefined): Promise<boolean> {
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('device_lease')
        .values(lease)
        .onConflict((conflict) =>
          conflict
            .column('device_id')
            .doUpdateSet(lease)
            .where((eb) =>
              eb.or([
                eb('device_lease.user_id', 'in', [lease.user_id, insteadOf ?? lease.user_id]),
                eb('device_lease.expires_at', '<=', now),
              ]),
            ),
        )
        .executeTakeFirst();
      return (numInsertedOrUpdatedRows ?? 0n) > 0n;
    },

    async delete(deviceId: string): Promise<void> {
      await db.deleteFrom('device_lease').where('device_id', '=', deviceId).execute();
    },

    async deleteExpired(now: number): Promise<void> {
      await db.deleteFrom('device_lease').where('expires_at', '<=', now).execute();
    },
  };
}
