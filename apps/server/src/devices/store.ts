import { type RawBuilder, sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';

import type { Db, Transaction } from '../db/database.ts';
import { requireCurrent } from '../db/epochs.ts';
import type { GroupCommit } from '../db/group-commit.ts';
import type { Row } from '../db/tables.ts';

export type StoredDevice = Row<'device'>;
/** What a host says of a phone. */
export type DescribedDevice = Omit<StoredDevice, 'id'>;

export type DeviceStore = ReturnType<typeof createDeviceStore>;

/** A statement has a value for each field of each device, and may have 32,766. */
const atOnce = 500;

/** What is known of devices beyond the life of a connection. */
export function createDeviceStore(db: Db, commits: GroupCommit) {
  return {
    listAll: (): Promise<StoredDevice[]> => db.selectFrom('device').selectAll().execute(),

    /**
     * What a host said on the connection of this epoch. Returns the devices as they are stored now: whoever stores a
     * phone first gives it its ID. Throws `EpochOver`.
     */
    async saveAll(devices: readonly DescribedDevice[], epoch: number): Promise<StoredDevice[]> {
      // In one order, so that no two of them wait for each other.
      const rows = devices.map((device) => ({ ...device, id: uuidv7() }));
      const sorted = rows.toSorted((one, other) => (one.serial < other.serial ? -1 : 1));
      const stored: StoredDevice[] = [];
      for (let first = 0; first < sorted.length; first += atOnce) {
        const some = sorted.slice(first, first + atOnce);
        stored.push(...(await commits.write((transaction) => upsert(transaction, some, epoch))));
      }
      return stored;
    },

    async delete(id: string): Promise<void> {
      await db.deleteFrom('device').where('id', '=', id).execute();
    },

    /** False: a run on it has not ended. */
    async deleteIdle(id: string): Promise<boolean> {
      const { numDeletedRows } = await db
        .deleteFrom('device')
        .where('id', '=', id)
        .where((eb) => {
          const runs = eb.selectFrom('run').select('run.id').where('device_id', '=', id);
          return eb.not(eb.exists(runs.where('ended_at', 'is', null)));
        })
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}

async function upsert(
  transaction: Transaction,
  devices: readonly StoredDevice[],
  epoch: number,
): Promise<StoredDevice[]> {
  await requireCurrent(transaction, [epoch]);
  return transaction
    .insertInto('device')
    .values(devices)
    .onConflict((conflict) =>
      conflict.columns(['owner_id', 'serial']).doUpdateSet((eb) => ({
        host_id: eb.ref('excluded.host_id'),
        host_name: eb.ref('excluded.host_name'),
        ...toldBefore,
        last_seen_at: eb.ref('excluded.last_seen_at'),
      })),
    )
    .returningAll()
    .execute();
}

/** A phone that is offline or unauthorized does not tell what it is: what it told before stands. */
const toldBefore = {
  ...{ brand: told('brand', ''), model: told('model', ''), android_version: told('android_version', '') },
  sdk_version: told('sdk_version', 0),
  screen_width: told('screen_width', 0),
  screen_height: told('screen_height', 0),
};

function told<Value extends string | number>(column: string, nothing: Value): RawBuilder<Value> {
  const [said, before] = [sql.ref(`excluded.${column}`), sql.ref(`device.${column}`)];
  return sql<Value>`coalesce(nullif(${said}, ${sql.lit(nothing)}), ${before})`;
}
