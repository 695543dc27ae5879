import { sql } from 'kysely';

import type { Db } from '../db/database.ts';
import type { GroupCommit } from '../db/group-commit.ts';
import { numbersIn, textsIn } from '../db/rows.ts';
import type { PlacedRuns } from './placed-runs.ts';
import { runLane } from './run-lane.ts';
import { runColumns } from './stored-run.ts';

export function createPlacedRunStore(db: Db, commits: GroupCommit): PlacedRuns {
  const active = () => db.selectFrom('run').selectAll().where('ended_at', 'is', null);
  return {
    listOfHost: ({ userId, hostId }) =>
      active().where('device_owner_id', '=', userId).where('host_id', '=', hostId).execute(),

    listOnDevices: (deviceIds) => active().where('device_id', 'in', textsIn(db, deviceIds)).execute(),

    listByIds: (runIds) => db.selectFrom('run').selectAll().where('id', 'in', textsIn(db, runIds)).execute(),

    listToTell: (epochs) =>
      db
        .selectFrom('run')
        .innerJoin('device', 'device.id', 'run.device_id')
        .selectAll('run')
        .select('device.serial')
        .where('run.ended_at', 'is', null)
        .where('run.epoch', 'in', numbersIn(db, epochs))
        .where((eb) => eb.or([eb('run.status', '=', 'starting'), eb('run.stop_requested', '=', 1)]))
        .orderBy('run.id')
        .execute(),

    listOverdue: (since) =>
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

    async adopt(runIds, epoch) {
      await commits.write(
        (transaction) =>
          transaction
            .updateTable('run')
            .set({ epoch })
            .where('id', 'in', textsIn(transaction, runIds))
            .where('ended_at', 'is', null)
            .execute(),
        runLane,
      );
    },

    requestStop: (runIds) =>
      commits.write(async (transaction) => {
        const { rows } = await sql<{ epoch: number }>`
          WITH stopped AS (UPDATE run SET stop_requested = 1
            WHERE id IN ${textsIn(transaction, runIds)} AND ended_at IS NULL
            RETURNING device_owner_id, host_id)
          SELECT DISTINCT host_session.epoch FROM stopped JOIN host_session
            ON host_session.owner_id = stopped.device_owner_id AND host_session.host_id = lower(stopped.host_id)`.execute(
          transaction,
        );
        return rows.map(({ epoch }) => epoch);
      }, runLane),

    callOff: (runIds) =>
      commits.write(async (transaction) => {
        const { rows } = await sql<{ id: string; epoch: number | null }>`
          UPDATE run SET stop_requested = 1 WHERE id IN ${textsIn(transaction, runIds)} AND status = 'starting'
          RETURNING id, epoch`.execute(transaction);
        const calledOff = new Set(rows.map(({ id }) => id));
        const others = runIds.filter((id) => !calledOff.has(id));
        const begun = await transaction
          .selectFrom('run')
          .select(runColumns)
          .where('id', 'in', textsIn(transaction, others))
          .execute();
        const epochs = new Set(rows.flatMap(({ epoch }) => epoch ?? []));
        return { begun, epochs: [...epochs] };
      }, runLane),

    async countOfUser(userId, within = db) {
      const row = await within
        .selectFrom('run')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .where('user_id', '=', userId)
        .where('ended_at', 'is', null)
        .executeTakeFirstOrThrow();
      return row.count;
    },

    async listFullDevices(deviceIds, most, within) {
      // Not a count for each phone: it would look each time through all that has ended lately.
      const rows = await within
        .selectFrom('run')
        .select('device_id')
        .where('ended_at', 'is', null)
        .where('device_id', 'in', textsIn(within, deviceIds))
        .groupBy('device_id')
        .having((eb) => eb.fn.countAll<number>(), '>=', most)
        .execute();
      return new Set(rows.map((row) => row.device_id));
    },
  };
}
