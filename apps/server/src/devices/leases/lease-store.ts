import { change } from '../../db/writes.ts';
import type { Db } from '../../db/database.ts';
import type { Row } from '../../db/tables/tables.ts';

export type StoredLease = Row<'device_lease'>;
export type LeaseStore = ReturnType<typeof createLeaseStore>;

const maxActs = 300;

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
        if ((numInsertedOrUpdatedRows ?? 0n) === 0n) return false;
        const code = transaction.deleteFrom('lease_code').where('device_id', '=', lease.device_id);
        await code.where('lease_id', '<>', lease.id).execute();
        return true;
      }),

    find: (deviceId: string): Promise<StoredLease | undefined> =>
      db.selectFrom('device_lease').selectAll().where('device_id', '=', deviceId).executeTakeFirst(),

    /** False: it has ended, and another one may hold. */
    delete: ({ device_id, id }: Pick<StoredLease, 'device_id' | 'id'>): Promise<boolean> =>
      change(db, async (transaction) => {
        const lease = transaction.deleteFrom('device_lease').where('device_id', '=', device_id);
        return (await lease.where('id', '=', id).executeTakeFirst()).numDeletedRows > 0n;
      }),

    /** Of an act, if the lease holds still; those of the last acts are kept. */
    async addCode(lease: Pick<StoredLease, 'device_id' | 'id'>, lines: readonly string[]): Promise<void> {
      // PostgreSQL stores no NUL.
      const text = lines.join('\n').replaceAll('\0', '');
      await db
        .insertInto('lease_code')
        .columns(['device_id', 'lease_id', 'lines'])
        .expression((eb) =>
          eb
            .selectFrom('device_lease')
            .where('device_id', '=', lease.device_id)
            .where('id', '=', lease.id)
            .select(['device_id', 'id', eb.val(text).as('lines')]),
        )
        .execute();
      const ofDevice = db.selectFrom('lease_code').where('device_id', '=', lease.device_id);
      const newest = ofDevice.select('position').orderBy('position', 'desc');
      const oldest = await newest.offset(maxActs).limit(1).executeTakeFirst();
      if (oldest === undefined) return;
      const acts = db.deleteFrom('lease_code').where('device_id', '=', lease.device_id);
      await acts.where('position', '<=', oldest.position).execute();
    },

    async readCode({ device_id, id }: Pick<StoredLease, 'device_id' | 'id'>): Promise<string[]> {
      const acts = db.selectFrom('lease_code').select('lines').where('device_id', '=', device_id);
      const found = await acts.where('lease_id', '=', id).orderBy('position').execute();
      return found.flatMap(({ lines }) => lines.split('\n'));
    },

    /** Returns the IDs of the devices. */
    async deleteExpired(now: number): Promise<string[]> {
      const rows = await db
        .deleteFrom('device_lease')
        .where('expires_at', '<=', now)
        .returning('device_id')
        .execute();
      return rows.map((row) => row.device_id);
    },
  };
}
