import path from 'node:path';
import Database from 'better-sqlite3';
import { Type } from 'typebox';

import { ensureAdministrator } from '../../apps/server/src/access/first-start.ts';
import { createAccessStore } from '../../apps/server/src/access/store.ts';
import { systemClock } from '../../apps/server/src/clock.ts';
import { openDatabase } from '../../apps/server/src/db/database.ts';
import { answerParent, command } from '../harness/answer-parent.ts';
import { fillRecords, middleRecordIds, type FillPlan } from '../records/fill-records.ts';
import { fillTallies } from '../records/fill-tallies.ts';

let copy: Database.Database | undefined;

async function addOwner(file: string, token: string): Promise<string> {
  const database = await openDatabase(file);
  try {
    const access = createAccessStore(database);
    const deeds = { done: async () => undefined };
    await ensureAdministrator({ store: access, clock: systemClock, deeds }, token);
    const user = await access.findAdministrator();
    if (user === undefined) throw new Error('there is no administrator');
    return user.id;
  } finally {
    await database.destroy();
  }
}

function fill(file: string, plan: FillPlan): string[] {
  const sqlite = new Database(file);
  try {
    fillRecords(sqlite, plan);
    return middleRecordIds(sqlite, plan.records);
  } finally {
    sqlite.close();
  }
}

answerParent({
  /** Makes a data folder of a server that has so many records. Returns IDs of some in the middle. */
  fill: command(
    Type.Object({ dataDir: Type.String(), token: Type.String(), records: Type.Integer() }),
    async ({ dataDir, token, records }) => {
      const file = path.join(dataDir, 'phalanx.db');
      const plan = { ownerId: await addOwner(file, token), records };
      const middleIds = fill(file, plan);
      await fillTallies(file, plan);
      return middleIds;
    },
  ),
  /** Opens a copy of such a database and reads records by their primary key. Returns how long one took, in ms. */
  readByKey: command(
    Type.Object({ file: Type.String(), ids: Type.Array(Type.String()) }),
    ({ file, ids }) => {
      copy ??= new Database(file);
      const read = copy.prepare<[string]>('SELECT * FROM record WHERE id = ?');
      for (const id of ids) read.get(id);
      const startedAt = performance.now();
      for (const id of ids) if (read.get(id) === undefined) throw new Error(`there is no record ${id}`);
      return (performance.now() - startedAt) / ids.length;
    },
  ),
});
