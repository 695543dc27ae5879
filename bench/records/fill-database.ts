import path from 'node:path';
import Database from 'better-sqlite3';

import { ensureAdministrator } from '../../apps/server/src/http/access/first-start.ts';
import { createAccessStore } from '../../apps/server/src/http/access/store.ts';
import { systemClock } from '../../apps/server/src/kernel/clock.ts';
import { openDatabase } from '../../apps/server/src/storage/db/database.ts';
import { fillRecords, middleRecordIds, type FillPlan } from './fill-records.ts';

interface Filling {
  dataDir: string;
  /** Token of the administrator, who owns the records. */
  token: string;
  records: number;
}

/** Creates a data folder of a server with this number of records. Returns IDs from the middle. */
export async function fillDatabase({ dataDir, token, records }: Filling): Promise<string[]> {
  const file = path.join(dataDir, 'phalanx.db');
  const plan = { ownerId: await addOwner(file, token), records };
  return fill(file, plan);
}

async function addOwner(file: string, token: string): Promise<string> {
  const database = await openDatabase({ file });
  try {
    const access = createAccessStore(database);
    const auditEvents = { done: async () => undefined };
    await ensureAdministrator({ store: access, clock: systemClock, auditEvents }, token);
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
