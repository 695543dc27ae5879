import type { Db } from '../db/database.ts';

export interface StoredDevice {
  id: string;
  owner_id: string;
  serial: string;
  host_id: string;
  host_name: string;
  brand: string;
  model: string;
  android_version: string;
  sdk_version: number;
  screen_width: number;
  screen_height: number;
  /** When a host last reported it, epoch ms. */
  last_seen_at: number;
}

// A type, not an interface: only that has the index signature kysely asks for.
type Tables = {
  device: StoredDevice;
};

export type DeviceStore = ReturnType<typeof createDeviceStore>;

/** What is known of devices beyond the life of a connection. */
export function createDeviceStore(database: Db) {
  const db = database.withTables<Tables>();
  return {
    listAll: (): Promise<StoredDevice[]> => db.selectFrom('device').selectAll().execute(),

    async saveAll(devices: readonly StoredDevice[]): Promise<void> {
      await db.transaction().execute(async (transaction) => {
        for (const { id, ...values } of devices) {
          await transaction
            .insertInto('device')
            .values({ id, ...values })
            .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
            .execute();
        }
      });
    },

    async delete(id: string): Promise<void> {
      await db.deleteFrom('device').where('id', '=', id).execute();
    },
  };
}
