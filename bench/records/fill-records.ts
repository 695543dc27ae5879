import type { Database } from 'better-sqlite3';

export interface FillPlan {
  ownerId: string;
  records: number;
}

/** Number of records that the service keeps per automation by default. */
const recordsPerAutomation = 1000;
/** Time span of the records up to now, in ms. */
const spanMs = 30 * 24 * 60 * 60 * 1000;
const middleRecords = 200;
const screensPerRecord = 5;

const automationCount = ({ records }: FillPlan): number => Math.ceil(records / recordsPerAutomation);

/** Inserts complete and partial records of all types except `debug`, in all states, for each automation in turn. */
const insertRecords = `
  INSERT INTO record (id, owner_id, automation_id, project_id, run_id, user_id, device_id, device_info,
    automation_name, type, status, is_partial, tag, retention_group, saved, has_gap, missing_captures, added_at)
  WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < :records),
    times (n, ms) AS (SELECT n, CAST(:firstMs + n * :stepMs AS INTEGER) FROM numbers)
  SELECT printf('%08x-%04x-7%03x-8%03x-%012x', ms >> 16, ms & 65535, n % 4096, n / 4096 % 4096, n), :ownerId,
    printf('00000000-0000-4000-8000-%012x', n % :automations), NULL,
    printf('00000000-0000-4000-9000-%012x', n), :ownerId, '00000000-0000-4000-a000-000000000000',
    '{"brand":"Google","model":"Pixel 8","device_id":"00000000-0000-4000-a000-000000000000","android_version":"15"}',
    'Direct automation', json_extract('["outOfSteps","timeout","crash"]', '$[' || (n % 3) || ']'),
    json_extract('["pending","solved","skipped"]', '$[' || (n / 3 % 3) || ']'), n % 2, 'default', '', 0, n % 2, 0, ms
  FROM times`;

/** Fills the table of an empty database. Creates the indexes after the rows, which is faster. */
export function fillRecords(sqlite: Database, plan: FillPlan): void {
  const indexes = sqlite
    .prepare<[], { name: string; sql: string }>(
      "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'record' AND sql IS NOT NULL",
    )
    .all();
  sqlite.pragma('synchronous = OFF');
  sqlite.pragma('cache_size = -200000');
  for (const { name } of indexes) sqlite.exec(`DROP INDEX "${name}"`);
  sqlite.prepare(insertRecords).run({
    ...plan,
    automations: automationCount(plan),
    firstMs: Date.now() - spanMs,
    stepMs: spanMs / plan.records,
  });
  for (const { sql } of indexes) sqlite.exec(sql);
  addScreens(sqlite, [...middleRecordIds(sqlite, plan.records), ...newestIds(sqlite)]);
}

/** Adds screens to the records that will be read. */
function addScreens(sqlite: Database, ids: readonly string[]): void {
  const insert = sqlite.prepare<[string, number, string, number]>(`
    INSERT INTO record_screen (record_id, position, screen_id, next_stage, screen_state, max_steps, captured_at,
      tree, screenshot, width, height, original_width, original_height)
    VALUES (?, ?, ?, 'checkout', 'unknown', 0, ?, 'stored', 'stored', 540, 1212, 1080, 2424)`);
  sqlite.transaction(() => {
    for (const id of ids)
      for (let position = 0; position < screensPerRecord; position += 1)
        insert.run(id, position, crypto.randomUUID(), Date.now());
  })();
}

const idsAfter = (sqlite: Database, order: string, skipped: number, count: number): string[] =>
  sqlite
    .prepare<[number, number], { id: string }>(`SELECT id FROM record ORDER BY id ${order} LIMIT ? OFFSET ?`)
    .all(count, skipped)
    .map(({ id }) => id);

const newestIds = (sqlite: Database): string[] => idsAfter(sqlite, 'DESC', 0, 1);

/** Returns as many adjacent records as there are requests that name different ones. */
export const middleRecordIds = (sqlite: Database, records: number): string[] =>
  idsAfter(sqlite, 'ASC', Math.floor((records - middleRecords) / 2), middleRecords);
