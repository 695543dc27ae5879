import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import type { GroupCommit } from '../../storage/db/group-commit.ts';
import { invalidate } from '../../storage/db/invalidate.ts';
import { change } from '../../storage/db/change-note.ts';
import type { Db, Transaction } from '../../storage/db/database.ts';
import { requireCurrent } from '../../storage/db/epochs.ts';
import { hasLease } from '../../storage/db/lease.ts';
import { countRows, lockQuota, roomWithin } from '../../storage/db/quota.ts';
import { transact } from '../../storage/db/transactions.ts';
import { rowsAs, textsIn } from '../../storage/db/dialect.ts';
import type { StoredDevice } from './stored-device.ts';
import { identitiesOf, isOther, type KnownDevice, placeDevice } from './device-identity.ts';

/** Report of a host about a phone. The identity is a request: another phone may already have it. */
export type DescribedDevice = Omit<StoredDevice, 'id' | 'epoch'>;
/** Changed state of a phone, as detected by the server of its host. */
type DeviceState = Pick<StoredDevice, 'id' | 'epoch' | 'state' | 'reason' | 'since'> & {
  /** State before the change. */
  before: StoredDevice['state'];
};

interface Terms {
  epoch: number;
  /** Maximum number of devices that a user may have. */
  maxDevices: number;
}

interface Reported {
  /** Devices as stored now, without those that another host has and those beyond the limit. */
  stored: StoredDevice[];
  /** Number of devices beyond the limit. */
  refused: number;
  /** Serials of phones that are ready at another host: the reports have to be retried. */
  waiting: string[];
}

export type DeviceStore = ReturnType<typeof createDeviceStore>;

/**
 * Maximum number of devices per statement. Each field of each device is a parameter, and a statement may have 32,766.
 */
const atOnce = 500;

/** Stores devices, as last reported by hosts. */
export function createDeviceStore(db: Db, commits: GroupCommit) {
  return {
    /**
     * Stores the reports of a host on the connection of this epoch, all of one user. The first report of a phone
     * assigns its ID. Throws `EpochOver`.
     */
    async report(devices: readonly DescribedDevice[], terms: Terms): Promise<Reported> {
      // Sort them, so that concurrent transactions lock in the same order.
      const rows = devices.map((device) => ({ ...device, id: uuidv7(), epoch: terms.epoch }));
      const sorted = rows.toSorted((one, other) => (one.identity < other.identity ? -1 : 1));
      const all: Reported = { stored: [], refused: 0, waiting: [] };
      for (let first = 0; first < sorted.length; first += atOnce) {
        const some = sorted.slice(first, first + atOnce);
        const { stored, refused, waiting } = await commits.write((transaction) =>
          take(transaction, some, terms),
        );
        all.stored.push(...stored);
        all.refused += refused;
        all.waiting.push(...waiting);
      }
      return all;
    },

    /** Stores states, except for devices that a host has reported again in the meantime. */
    async saveStates(states: readonly DeviceState[]): Promise<void> {
      const texts = { id: 'text', state: 'text', reason: 'text', before: 'text' } as const;
      const columns = { ...texts, epoch: 'bigint', since: 'bigint' } as const;
      await commits.write(async (transaction) => {
        const changes = rowsAs(transaction, 'change', columns, states);
        await sql`UPDATE device SET state = change.state, reason = change.reason, since = change.since
          FROM ${changes} WHERE device.id = change.id AND device.epoch = change.epoch
            AND device.state = change.before`.execute(transaction);
      });
    },

    async deleteOwned(ownerId: string): Promise<void> {
      await transact(db, async (transaction) => {
        await transaction.deleteFrom('device').where('owner_id', '=', ownerId).execute();
        await invalidate(transaction, 'leases');
      });
    },

    /** Deletes a device. Returns false when its host has it or a run on it has not ended. */
    deleteIdle: (id: string): Promise<boolean> =>
      change(db, async (transaction) => {
        const { numDeletedRows } = await transaction
          .deleteFrom('device')
          .where('id', '=', id)
          .where((eb) => {
            const runs = eb.selectFrom('run').select('run.id').where('device_id', '=', id);
            return eb.not(eb.exists(runs.where('ended_at', 'is', null)));
          })
          .where((eb) => {
            const connections = eb.selectFrom('host_session').select('host_session.epoch');
            const ofHost = connections.whereRef('host_session.epoch', '=', 'device.epoch');
            return eb.not(eb.exists(ofHost.where('host_session.ended_at', 'is', null)));
          })
          .executeTakeFirst();
        await invalidate(transaction, 'leases');
        return numDeletedRows > 0n;
      }),
  };
}

async function take(
  transaction: Transaction,
  devices: readonly StoredDevice[],
  { epoch, maxDevices }: Terms,
): Promise<Reported> {
  await requireCurrent(transaction, epoch);
  const ownerId = devices[0]?.owner_id ?? '';
  const identities = [...new Set(devices.flatMap(identitiesOf))];
  const quota = { kind: 'devices', owner: ownerId, max: maxDevices };
  const there = await listIdentities(transaction, ownerId, identities);
  if (devices.some((device) => !identitiesOf(device).some((identity) => there.has(identity))))
    await lockQuota(transaction, quota);
  const known = await findKnown(transaction, ownerId, identities);
  const shared = await findShared(transaction, ownerId, { devices, known });
  const placings = devices.map((device) => ({
    device,
    placing: placeDevice(device, known, (serial) => shared.has(serial)),
  }));
  const waiting = placings.flatMap(({ device, placing }) => (placing === 'waits' ? [device.serial] : []));
  const placed = placings.flatMap(({ device, placing }) =>
    placing === 'waits' ? [] : [{ device: { ...device, identity: placing.identity }, row: placing.row }],
  );
  const fresh = placed.filter(({ row }) => row === undefined);
  const room =
    fresh.length === 0 ? 0 : await roomWithin(transaction, quota, () => countOwned(transaction, ownerId));
  const refused = new Set(fresh.slice(Math.max(0, room)));
  const stored = await store(
    transaction,
    placed.filter((one) => !refused.has(one)),
  );
  return { stored, refused: refused.size, waiting };
}

interface PlacedDevice {
  readonly device: StoredDevice;
  readonly row: KnownDevice | undefined;
}

/** Stores reports. After a reconnect, a host reports all its phones again, and few of them have changed. */
async function store(transaction: Transaction, placed: readonly PlacedDevice[]): Promise<StoredDevice[]> {
  const [same, changed]: [StoredDevice[], StoredDevice[]] = [[], []];
  for (const { device, row } of placed) {
    if (row === undefined) {
      changed.push(device);
      continue;
    }
    if (row.identity !== device.identity) await rename(transaction, row.id, device.identity);
    const { is_connected: _, ...before } = row;
    const after = { ...withKnownFacts(device, before), id: before.id };
    const { epoch, last_seen_at } = after;
    if (isDeepStrictEqual({ ...before, epoch, last_seen_at }, after)) same.push({ ...before, epoch });
    else changed.push(after);
  }
  await moveAll(transaction, same);
  return changed.length === 0 ? same : [...same, ...(await upsert(transaction, changed))];
}

/** Changes the identity of a phone that an earlier release has stored. This happens once per phone. */
async function rename(transaction: Transaction, id: string, identity: string): Promise<void> {
  await transaction.updateTable('device').set({ identity }).where('id', '=', id).execute();
}

/** Moves the devices to another connection. */
async function moveAll(transaction: Transaction, devices: readonly StoredDevice[]): Promise<void> {
  const [first] = devices;
  if (first === undefined) return;
  const ids = devices.map(({ id }) => id);
  const moving = transaction.updateTable('device').set({ epoch: first.epoch });
  await moving.where('id', 'in', textsIn(transaction, ids)).execute();
}

/**
 * Reads identities without locking their rows, because a transaction that waits for the quota lock of the user must
 * hold no row locks.
 */
async function listIdentities(
  transaction: Transaction,
  ownerId: string,
  identities: readonly string[],
): Promise<Set<string>> {
  const query = transaction
    .selectFrom('device')
    .select('identity')
    .where('owner_id', '=', ownerId)
    .where('identity', 'in', textsIn(transaction, identities));
  return new Set((await query.execute()).map(({ identity }) => identity));
}

/** Returns the serial numbers of these phones that a host has found on several phones. */
async function findShared(
  transaction: Transaction,
  ownerId: string,
  { devices, known }: { devices: readonly StoredDevice[]; known: ReadonlyMap<string, KnownDevice> },
): Promise<Set<string>> {
  const doubtful = devices.some((device) =>
    isOther(known.get(device.identity)?.phone_mark ?? '', device.phone_mark),
  );
  if (!doubtful) return new Set();
  // A name such as `NUMBER@usb:1-2` belongs to a phone whose number another phone has too.
  const query = transaction
    .selectFrom('device')
    .select('serial')
    .where('owner_id', '=', ownerId)
    .whereRef('identity', '!=', 'serial');
  const names = (await query.execute()).map(({ serial }) => serial.replace(/@.*$/, ''));
  return new Set(names);
}

async function findKnown(
  transaction: Transaction,
  ownerId: string,
  identities: readonly string[],
): Promise<Map<string, KnownDevice>> {
  const isConnected = sql<number>`CASE WHEN node.id IS NOT NULL AND ${hasLease(transaction)} THEN 1 ELSE 0 END`;
  const rows = await transaction
    .selectFrom('device')
    .leftJoin('host_session', (join) =>
      join.onRef('host_session.epoch', '=', 'device.epoch').on('host_session.ended_at', 'is', null),
    )
    .leftJoin('node', 'node.id', 'host_session.node_id')
    .selectAll('device')
    .select(isConnected.as('is_connected'))
    .where('device.owner_id', '=', ownerId)
    .where('device.identity', 'in', textsIn(transaction, identities))
    .orderBy('device.identity')
    .forUpdate('device')
    .execute();
  return new Map(rows.map((row) => [row.identity, row]));
}

export const countOwned = (db: Db, ownerId: string): Promise<number> =>
  countRows(db.selectFrom('device').where('owner_id', '=', ownerId));

/** Keeps the known facts of a phone that reports none, because it is offline or unauthorized. */
export const withKnownFacts = <Given extends DescribedDevice>(
  device: Given,
  before: DescribedDevice,
): Given => ({
  ...device,
  brand: device.brand || before.brand,
  model: device.model || before.model,
  android_version: device.android_version || before.android_version,
  sdk_version: device.sdk_version || before.sdk_version,
  screen_width: device.screen_width || before.screen_width,
  screen_height: device.screen_height || before.screen_height,
  phone_mark: device.phone_mark || before.phone_mark,
  boot_mark: device.boot_mark || before.boot_mark,
});

const upsert = (transaction: Transaction, devices: readonly StoredDevice[]): Promise<StoredDevice[]> =>
  transaction
    .insertInto('device')
    .values(devices)
    .onConflict((conflict) =>
      conflict.columns(['owner_id', 'identity']).doUpdateSet((eb) => ({
        serial: eb.ref('excluded.serial'),
        phone_mark: eb.ref('excluded.phone_mark'),
        boot_mark: eb.ref('excluded.boot_mark'),
        host_id: eb.ref('excluded.host_id'),
        host_name: eb.ref('excluded.host_name'),
        brand: eb.ref('excluded.brand'),
        model: eb.ref('excluded.model'),
        android_version: eb.ref('excluded.android_version'),
        sdk_version: eb.ref('excluded.sdk_version'),
        screen_width: eb.ref('excluded.screen_width'),
        screen_height: eb.ref('excluded.screen_height'),
        last_seen_at: eb.ref('excluded.last_seen_at'),
        state: eb.ref('excluded.state'),
        reason: eb.ref('excluded.reason'),
        since: eb.ref('excluded.since'),
        warnings: eb.ref('excluded.warnings'),
        battery_percent: eb.ref('excluded.battery_percent'),
        epoch: eb.ref('excluded.epoch'),
      })),
    )
    .returningAll()
    .execute();
