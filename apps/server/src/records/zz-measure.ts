import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { openDatabase } from '../db/database.ts';
import { createBrowseStore } from './browse-store.ts';
import { createRecordStore } from './store.ts';
import { cellsMatching, allCells, cellOf } from './cells.ts';

const spread = Number(process.argv[2] ?? 1);
const limits = { debugPerTag: 1e9, others: 1e9 };
for (const n of [1000, 100_000, 1_000_000]) {
  const folder = mkdtempSync(path.join(tmpdir(), 'rec-bench-'));
  const database = await openDatabase(path.join(folder, 'x.db'));
  await sql`pragma synchronous = off`.execute(database);
  const store = createRecordStore(database), browser = createBrowseStore(database);
  const start = Date.now() - 1e9 - n * spread;
  const t0 = performance.now();
  const ids: string[] = [];
  const make = (i: number) => {
    const type = (['outOfSteps', 'timeout', 'debug', 'crash'] as const)[i % 4]!;
    const tag = type === 'debug' ? `tag-${i % 40}` : 'default';
    const id = uuidv7({ msecs: start + Math.floor(i * spread) });
    if (n <= 1000 || i % (n / 1000) === 0) ids.push(id);
    return { id, owner_id: 'o', automation_id: `auto-${i % 20}`, project_id: null, run_id: 'r', user_id: 'u', device_id: 'd', device_info: '{"brand":"Google","model":"Pixel","device_id":"x","android_version":"16"}', automation_name: 'Direct automation', cell: cellOf({ type, status: (['pending', 'solved', 'skipped'] as const)[(i >> 2) % 3]!, isPartial: (i >> 4) % 2 === 0 }), tag, retention_group: type === 'debug' ? tag : '', saved: 0, has_gap: 0, missing_captures: 0, added_at: start + i };
  };
  await database.withTables<any>().transaction().execute(async (tx) => {
    for (let i = 0; i < n - 1; i += 500) {
      const rows = [];
      for (let j = i; j < Math.min(n - 1, i + 500); j++) rows.push(make(j));
      await tx.insertInto('record').values(rows).execute();
    }
  });
  const t1 = performance.now();
  for (const expr of ["owner_id||'//'", "owner_id||'//'||tag", "owner_id||'/'||automation_id||'/'", "owner_id||'/'||automation_id||'/'||tag"]) {
    await sql`insert into record_tally (list, node, n, ${sql.raw(allCells.map((c) => 'c' + c).join(','))}) select ${sql.raw(expr)}, '0', count(*), ${sql.raw(allCells.map((c) => `sum(cell=${c})`).join(','))} from record group by 1`.execute(database);
  }
  for (let i = 0; i < 40; i++) await store.insert({ ...make(n), id: uuidv7(), automation_id: `auto-${i % 20}`, tag: i%4===2 ? `tag-${i}` : 'default', cell: i%4===2 ? 12 : 0, retention_group: i%4===2?`tag-${i}`:'' }, [], { limits, nowMs: Date.now() });
  const t2 = performance.now();
  const { rows: nodes } = await sql<{ c: number }>`select count(*) c from record_tally`.execute(database);
  console.log(`n=${n} inserted ${Math.round(t1 - t0)} ms, tallied ${Math.round(t2 - t1)} ms, nodes ${nodes[0]!.c}`);
  const pk = async () => database.withTables<any>().selectFrom('record').selectAll().where('id', '=', ids[Math.floor(Math.random() * ids.length)]!).executeTakeFirst();
  const filters = [{}, { type: 'crash' }, { status: 'pending' }, { isPartial: true, status: 'skipped' }] as const;
  const kinds = ['this', 'older', 'newer'] as const;
  const q = (i: number, scope: any, tag: string | undefined) => browser.browse({ visible: scope, scopes: scope, cells: cellsMatching(filters[i % 4]!), tag, wanted: { kind: kinds[i % 3]!, id: ids[Math.floor(Math.random() * ids.length)]! } });
  const all = [{ ownerId: 'o', automationId: null }], one = [{ ownerId: 'o', automationId: 'auto-6' }];
  const cases: [string, (i: number) => Promise<unknown>][] = [['pk', pk], ['owner', (i) => q(i, all, undefined)], ['owner+tag', (i) => q(i, all, 'default')], ['automation', (i) => q(i, one, undefined)], ['automation+tag', (i) => q(i, one, 'tag-6')]];
  const times = new Map(cases.map(([name]) => [name, [] as number[]]));
  for (let round = 0; round < 1500; round++) for (const [name, run] of cases) {
    const a = performance.now(); await run(round); const b = performance.now();
    if (round > 300) times.get(name)!.push(b - a);
  }
  console.log([...times].map(([name, list]) => { list.sort((a, b) => a - b); return `${name} p50 ${(list[list.length >> 1]! * 1000).toFixed(0)}us p95 ${(list[Math.floor(list.length * 0.95)]! * 1000).toFixed(0)}us`; }).join(' | '));
  await database.destroy();
  rmSync(folder, { recursive: true });
}
