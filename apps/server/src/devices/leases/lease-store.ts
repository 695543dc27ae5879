import { change } from '../../db/change-notes.ts';
import type { Db } from '../../db/database.ts';
import type { Row } from '../../db/tables/tables.ts';

export type StoredLease = Row<'device_lease'>;
export type LeaseStore = ReturnType<typeof createLeaseStore>;

const maxLines = 1000;

/** The leases of devices, and what was done during them. */
export function createLeaseStore(db: Db) {
  return {
    list: (): Promise<StoredLease[]> => db.selectFrom('device_lease').selectAll().execute(),

    /** False: somebody else has leased the device. `insteadOf`: the user whose lease no longer counts. */
    take: (lease: StoredLease, now: number, insteadOf: string | undefined): Promise<boolean> =>
      change(db, async (transaction) => {
        const { numInsertedOrUpdatedRows } = await transaction
          .insertInto('device_lease')
          .values(lease)
          .onConflict((conflict) =>
            conflict
              .column('device_id')
              .doUpdateSet(lease)
              .where((eb) =>
                eb.or([
                  eb('device_lease.id', '=', lease.id),
                  eb('device_lease.user_id', '=', insteadOf ?? ''),
                  eb('device_lease.expires_at', '<=', now),
                  // Of one user, and both of them for any program of theirs.
                  ...(lease.is_exclusive === 1
                    ? []
                    : [
                        eb.and([
                          eb('device_lease.user_id', '=', lease.user_id),
                          eb('device_lease.is_exclusive', '=', 0),
                        ]),
                      ]),
                ]),
              ),
          )
          .executeTakeFirst();
        return (numInsertedOrUpdatedRows ?? 0n) > 0n;
      }),

    find: (deviceId: string): Promise<StoredLease | undefined> =>
      db.selectFrom('device_lease').selectAll().where('device_id', '=', deviceId).executeTakeFirst(),

    /** False: it has ended, and another one may hold. */
    delete: ({ device_id, id }: Pick<StoredLease, 'device_id' | 'id'>): Promise<boolean> =>
      change(db, async (transaction) => {
        const lease = transaction.deleteFrom('device_lease').where('device_id', '=', device_id);
        return (await lease.where('id', '=', id).executeTakeFirst()).numDeletedRows > 0n;
      }),

    /** Of a lease that ends meanwhile the lines go with the next expired ones. */
    async addCode(lease_id: string, lines: readonly string[]): Promise<void> {
      await db
        .insertInto('lease_code')
        .values(lines.map((line) => ({ lease_id, line })))
        .execute();
      const ofLease = db.selectFrom('lease_code').select('position').where('lease_id', '=', lease_id);
      const oldest = await ofLease.orderBy('position', 'desc').offset(maxLines).limit(1).executeTakeFirst();
      if (oldest === undefined) return;
      const lease = db.deleteFrom('lease_code').where('lease_id', '=', lease_id);
      await lease.where('position', '<=', oldest.position).execute();
    },

    async readCode(leaseId: string): Promise<string[]> {
      const lines = db.selectFrom('lease_code').select('line').where('lease_id', '=', leaseId);
      return (await lines.orderBy('position').execute()).map(({ line }) => line);
    },

    /** Returns the IDs of the devices. */
    async deleteExpired(now: number): Promise<string[]> {
      const rows = await db
        .deleteFrom('device_lease')
        .where('expires_at', '<=', now)
        .returning('device_id')
        .execute();
      const held = db.selectFrom('device_lease').select('id');
      await db.deleteFrom('lease_code').where('lease_id', 'not in', held).execute();
      return rows.map((row) => row.device_id);
    },
  };
}
