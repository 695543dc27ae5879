import { sql } from 'kysely';
import { change } from '../../../storage/db/change-note.ts';
import type { Db } from '../../../storage/db/database.ts';
import type { Row } from '../../../storage/db/tables/tables.ts';
import { transact } from '../../../storage/db/transactions.ts';
import { invalidate, invalidateLater } from '../../../storage/db/invalidate.ts';

export type StoredLease = Row<'device_lease'>;
export type LeaseStore = ReturnType<typeof createLeaseStore>;

/** Limits of the stored code of a lease, in acts and bytes: the latest acts are kept. */
const maxActs = 300;
const maxCodeBytes = 256 * 1024;

const leftOut = `// What was done before was left out: a lease has room for ${maxActs} acts and ${maxCodeBytes / 1024} KB of code.`;

interface LeaseTerms {
  readonly now: number;
  /** User whose lease is void and may be replaced. */
  readonly insteadOf: string | undefined;
  /**
   * Whether a touch of the holder extends the lease. Touches are frequent and no caller is notified of the new end, so
   * other servers may learn of it later.
   */
  readonly isByTouch: boolean;
}

/** Stores the leases of devices, and the code of the acts during a lease. */
export function createLeaseStore(db: Db) {
  return {
    list: (): Promise<StoredLease[]> => db.selectFrom('device_lease').selectAll().execute(),

    /** Takes or extends a lease. Returns false when another lease holds the device. */
    take: (lease: StoredLease, { now, insteadOf, isByTouch }: LeaseTerms): Promise<boolean> =>
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
                  // Both leases belong to the same user, and neither is exclusive.
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
        await (isByTouch ? invalidateLater : invalidate)(transaction, 'leases');
        return true;
      }),

    find: (deviceId: string): Promise<StoredLease | undefined> =>
      db.selectFrom('device_lease').selectAll().where('device_id', '=', deviceId).executeTakeFirst(),

    /** Counts the leases of the device that have begun or ended. */
    async countChanges(deviceId: string): Promise<number> {
      const device = db.selectFrom('device').select('lease_changes').where('id', '=', deviceId);
      return (await device.executeTakeFirst())?.lease_changes ?? 0;
    },

    /** Deletes a lease. Returns false when it has already ended; another one may hold by now. */
    delete: ({ device_id, id }: Pick<StoredLease, 'device_id' | 'id'>): Promise<boolean> =>
      change(db, async (transaction) => {
        const lease = transaction.deleteFrom('device_lease').where('device_id', '=', device_id);
        const { numDeletedRows } = await lease.where('id', '=', id).executeTakeFirst();
        await invalidate(transaction, 'leases');
        return numDeletedRows > 0n;
      }),

    /** Stores the code of an act if the lease still holds. The code of the latest acts is kept. */
    async addCode(lease: Pick<StoredLease, 'device_id' | 'id'>, lines: readonly string[]): Promise<void> {
      // PostgreSQL cannot store NUL.
      const text = lines.join('\n').replaceAll('\0', '');
      const earlier = db
        .selectFrom('lease_code')
        .where('device_id', '=', lease.device_id)
        .where('lease_id', '=', lease.id)
        .select(({ fn }) => fn.coalesce(fn.max('number'), sql<number>`0`).as('number'));
      await db
        .insertInto('lease_code')
        .columns(['device_id', 'lease_id', 'lines', 'size_bytes', 'number'])
        .expression((eb) =>
          eb
            .selectFrom('device_lease')
            .where('device_id', '=', lease.device_id)
            .where('id', '=', lease.id)
            .select([
              'device_id',
              'id',
              eb.val(text).as('lines'),
              eb.val(Buffer.byteLength(text)).as('size_bytes'),
              eb(earlier, '+', 1).as('number'),
            ]),
        )
        .execute();
      await deleteSurplus(db, lease.device_id);
    },

    /** Returns the code of a lease. The first line states if the beginning was left out. */
    async readCode({ device_id, id }: Pick<StoredLease, 'device_id' | 'id'>): Promise<string[]> {
      const acts = db.selectFrom('lease_code').select(['lines', 'number']).where('device_id', '=', device_id);
      const found = await acts.where('lease_id', '=', id).orderBy('position').execute();
      const isCut = (found[0]?.number ?? 1) > 1;
      return [...(isCut ? [leftOut] : []), ...found.flatMap(({ lines }) => lines.split('\n'))];
    },

    /** Deletes expired leases. Returns the IDs of their devices. */
    deleteExpired: (now: number): Promise<string[]> =>
      transact(db, async (transaction) => {
        const expired = transaction.deleteFrom('device_lease').where('expires_at', '<=', now);
        const rows = await expired.returning('device_id').execute();
        if (rows.length > 0) await invalidateLater(transaction, 'leases');
        return rows.map((row) => row.device_id);
      }),
  };
}

/** Deletes the oldest acts of a device that exceed the limits. */
async function deleteSurplus(db: Db, deviceId: string): Promise<void> {
  const newestFirst = sql`over (order by position desc)`;
  const kept = db
    .selectFrom('lease_code')
    .where('device_id', '=', deviceId)
    .select([
      'position',
      sql<number>`row_number() ${newestFirst}`.as('acts'),
      sql<number>`sum(size_bytes) ${newestFirst}`.as('bytes'),
    ])
    .as('kept');
  await db
    .deleteFrom('lease_code')
    .where('position', 'in', (eb) =>
      eb
        .selectFrom(kept)
        .select('position')
        .where((row) => row.or([row('acts', '>', maxActs), row('bytes', '>', maxCodeBytes)])),
    )
    .execute();
}
