import Database from 'better-sqlite3';
import { openDatabase, type Db } from '../../apps/server/src/storage/db/database.ts';
import { listKey, listsOf, type RecordList } from '../../apps/server/src/evidence/records/stored-record.ts';
import { rootNode, addToTallies } from '../../apps/server/src/evidence/records/browse/tally-store.ts';
import { automationCount, type FillPlan } from './fill-records.ts';

interface Last {
  id: string;
  owner_id: string;
  automation_id: string;
  tag: string;
  cell: number;
}

/**
 * Gives the records their counts. Each list gets its root with all records but the last of them; the store's own
 * function counts that one, finds the root too large, and makes the nodes below it from the records themselves.
 */
export async function fillTallies(file: string, plan: FillPlan): Promise<void> {
  const lists = addRoots(file, plan);
  const database = await openDatabase({ file });
  try {
    await database.transaction().execute(async (transaction: Db) => {
      for (const { list, last } of lists) await addToTallies(transaction, [list], last);
    });
  } finally {
    await database.destroy();
  }
}

function addRoots(file: string, plan: FillPlan): { list: RecordList; last: Last }[] {
  const sqlite = new Database(file);
  try {
    const last = lastByList(sqlite, plan);
    sqlite.transaction(() => {
      for (const one of last) addRoot(sqlite, one);
    })();
    return last;
  } finally {
    sqlite.close();
  }
}

/** The last records are one of each automation. */
function lastByList(sqlite: Database.Database, plan: FillPlan): { list: RecordList; last: Last }[] {
  const newest = sqlite
    .prepare<[number], Last>(
      'SELECT id, owner_id, automation_id, tag, cell FROM record ORDER BY id DESC LIMIT ?',
    )
    .all(automationCount(plan));
  const lists = new Map<string, { list: RecordList; last: Last }>();
  for (const last of newest)
    for (const list of listsOf(last)) if (!lists.has(listKey(list))) lists.set(listKey(list), { list, last });
  return [...lists.values()];
}

function addRoot(sqlite: Database.Database, { list, last }: { list: RecordList; last: Last }): void {
  const { automationId, tag } = list;
  const counts = sqlite
    .prepare<Record<string, string | null>, { cell: number; n: number }>(
      `SELECT cell, count(*) AS n FROM record WHERE owner_id = :ownerId AND id <> :id
        ${automationId === null ? '' : 'AND automation_id = :automationId'}
        ${tag === null ? '' : 'AND tag = :tag'} GROUP BY cell`,
    )
    .all({
      ownerId: list.ownerId,
      id: last.id,
      ...(automationId === null ? {} : { automationId }),
      ...(tag === null ? {} : { tag }),
    });
  const columns = counts.map(({ cell }) => `c${cell}`);
  const total = counts.reduce((sum, { n }) => sum + n, 0);
  sqlite
    .prepare(
      `INSERT INTO record_tally (list, node, n${columns.map((column) => `, ${column}`).join('')})
        VALUES (?, ?, ?${', ?'.repeat(columns.length)})`,
    )
    .run(listKey(list), rootNode, total, ...counts.map(({ n }) => n));
}
