import { sql } from 'kysely';
import type { GroupCommit } from '../../storage/db/group-commit.ts';
import { noted } from '../../storage/db/change-note.ts';
import type { Db, Transaction } from '../../storage/db/database.ts';
import { numbersIn, textsIn } from '../../storage/db/dialect.ts';
import type { Row } from '../../storage/db/tables/tables.ts';
import { activeRunOf, type ActiveRun } from './active-runs.ts';
import { runQueue, type RunToSend, type StoredRun } from './stored-run.ts';

export type ActiveRunStore = ReturnType<typeof createActiveRunStore>;

/** Stores the active runs of all servers. `ActiveRuns` holds those of this server's hosts in memory. */
export function createActiveRunStore(db: Db, commits: GroupCommit) {
  const active = () => db.selectFrom('run').selectAll().where('ended_at', 'is', null);
  return {
    listOfHost: ({ userId, hostId }: { userId: string; hostId: string }): Promise<Row<'run'>[]> =>
      active()
        .where('device_owner_id', '=', userId)
        .where(sql<string>`lower(host_id)`, '=', hostId.toLowerCase())
        .where('host_id', '=', hostId)
        .execute(),

    /** Maps devices to their active runs. Devices without any are omitted. */
    async mapByDevice(deviceIds: readonly string[]): Promise<ReadonlyMap<string, readonly ActiveRun[]>> {
      const rows = await active().where('device_id', 'in', textsIn(db, deviceIds)).execute();
      return Map.groupBy(
        rows.map((row) => activeRunOf(row, row.epoch)),
        ({ deviceId }) => deviceId,
      );
    },

    /** Lists runs by ID, including ended ones. */
    listByIds: (runIds: readonly string[]): Promise<StoredRun[]> =>
      db.selectFrom('run').selectAll().where('id', 'in', textsIn(db, runIds)).execute(),

    /** Lists the pending messages to the hosts of these connections: runs that have not begun, and requested stops. */
    listToSend: (epochs: readonly number[]): Promise<RunToSend[]> =>
      db
        .selectFrom('host_session')
        .innerJoin('run', (join) =>
          join
            .onRef('run.device_owner_id', '=', 'host_session.owner_id')
            .on(sql<string>`lower(run.host_id)`, '=', sql.ref('host_session.host_id'))
            .onRef('run.epoch', '=', 'host_session.epoch'),
        )
        .innerJoin('device', 'device.id', 'run.device_id')
        .selectAll('run')
        .select('device.serial')
        .where('host_session.epoch', 'in', numbersIn(db, epochs))
        .where('run.ended_at', 'is', null)
        .where((eb) => eb.or([eb('run.status', '=', 'starting'), eb('run.stop_requested', '=', 1)]))
        .orderBy('run.id')
        .execute(),

    /** Lists the runs whose host has been away since that time, and those that no host has acknowledged since. */
    listOverdue: (since: number): Promise<Row<'run'>[]> =>
      db
        .selectFrom('run')
        .leftJoin('host_session', (join) =>
          join
            .onRef('host_session.owner_id', '=', 'run.device_owner_id')
            .on('host_session.host_id', '=', sql<string>`lower(run.host_id)`)
            .on('host_session.ended_at', '<=', since),
        )
        .selectAll('run')
        .where('run.ended_at', 'is', null)
        .where((eb) =>
          eb.or([
            eb('host_session.epoch', 'is not', null),
            eb.and([eb('run.status', '=', 'starting'), eb('run.created_at', '<=', since)]),
          ]),
        )
        .execute(),

    /** Assigns these runs to the current connection of their host. */
    async adopt(runIds: readonly string[], epoch: number): Promise<void> {
      if (runIds.length === 0) return;
      await commits.write(
        (transaction) =>
          transaction
            .updateTable('run')
            .set({ epoch })
            .where('id', 'in', textsIn(transaction, runIds))
            .where('ended_at', 'is', null)
            .execute(),
        runQueue,
      );
    },

    /**
     * Reassigns runs to this connection, so that they are sent again. Selects the runs that have not begun, have a
     * stored payload and were not called off. Returns their IDs.
     */
    sendAgain: (runIds: readonly string[], epoch: number): Promise<string[]> =>
      commits.write(async (transaction) => {
        const stored = transaction.selectFrom('launch_payload').select('launch_payload.launch');
        const rows = await transaction
          .updateTable('run')
          .set({ epoch })
          .where('id', 'in', textsIn(transaction, runIds))
          .where('status', '=', 'starting')
          .where('stop_requested', '=', 0)
          .where('launch', 'in', stored)
          .returning('id')
          .execute();
        return rows.map(({ id }) => id);
      }, runQueue),

    /** Requests the stop of runs. Returns the newest connections of the hosts to notify. */
    requestStop: (runIds: readonly string[]): Promise<number[]> =>
      commits.write(
        noted(async (transaction) => {
          const stopped = await transaction
            .updateTable('run')
            .set({ stop_requested: 1 })
            .where('id', 'in', textsIn(transaction, runIds))
            .where('ended_at', 'is', null)
            .returning(['device_owner_id', 'host_id'])
            .execute();
          return listEpochs(transaction, stopped);
        }),
        runQueue,
      ),

    async countOfUser(userId: string, within: Db | Transaction = db): Promise<number> {
      const row = await within
        .selectFrom('run')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .where('user_id', '=', userId)
        .where('ended_at', 'is', null)
        .executeTakeFirstOrThrow();
      return row.count;
    },

    /** Returns the devices that have at least `maxRuns` active runs. */
    async listFullDevices(
      deviceIds: readonly string[],
      maxRuns: number,
      within: Db | Transaction,
    ): Promise<ReadonlySet<string>> {
      // One query instead of a count per device, which would scan all recently ended runs each time.
      const rows = await within
        .selectFrom('run')
        .select('device_id')
        .where('ended_at', 'is', null)
        .where('device_id', 'in', textsIn(within, deviceIds))
        .groupBy('device_id')
        .having((eb) => eb.fn.countAll<number>(), '>=', maxRuns)
        .execute();
      return new Set(rows.map((row) => row.device_id));
    },
  };
}

/** Returns the epochs of the newest connections of these hosts. */
async function listEpochs(
  transaction: Transaction,
  hosts: readonly { device_owner_id: string; host_id: string }[],
): Promise<number[]> {
  const keyOf = (ownerId: string, hostId: string): string => `${ownerId} ${hostId.toLowerCase()}`;
  const meant = new Set(hosts.map((host) => keyOf(host.device_owner_id, host.host_id)));
  const owners = [...new Set(hosts.map((host) => host.device_owner_id))];
  const sessions = await transaction
    .selectFrom('host_session')
    .select(['epoch', 'owner_id', 'host_id'])
    .where('owner_id', 'in', textsIn(transaction, owners))
    .execute();
  return sessions.filter((one) => meant.has(keyOf(one.owner_id, one.host_id))).map(({ epoch }) => epoch);
}
