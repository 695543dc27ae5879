import { join } from 'node:path';
import type { RunStatus } from '@phalanx/protocol';
import Sqlite from 'better-sqlite3';
import { until } from './until.ts';

/** Table of a host's database, with its key and its content. */
const tables = {
  run: 'SELECT key, value FROM run',
  record: 'SELECT key, value FROM record',
  run_file: 'SELECT key, value FROM run_file',
  earlier_settings: 'SELECT key, value FROM earlier_settings',
  log_chunk: 'SELECT run_id AS key, entries AS value FROM log_chunk',
};

interface Row {
  readonly key: string;
  readonly value: string;
}

/** Reads a table of the host with this data folder, which may be running. */
export function readHostRows(dataDir: string, table: keyof typeof tables): Row[] {
  const sqlite = new Sqlite(join(dataDir, 'host', 'host.db'), { readonly: true, fileMustExist: true });
  try {
    return sqlite.prepare<[], Row>(tables[table]).all();
  } finally {
    sqlite.close();
  }
}

/** Writes rows into a table of a host that is stopped. */
export function writeHostRows(
  dataDir: string,
  table: 'run' | 'record',
  rows: readonly (readonly [key: string, value: string])[],
): void {
  const sqlite = new Sqlite(join(dataDir, 'host', 'host.db'));
  const insert = sqlite.prepare(`INSERT INTO ${table} (key, value) VALUES (?, ?)`);
  for (const row of rows) insert.run(...row);
  sqlite.close();
}

/** Resolves when the host's journal contains this status of the run. */
export async function untilJournaled(dataDir: string, runId: string, status: RunStatus): Promise<void> {
  await until(
    `the run as ${status} in the journal`,
    () => readHostRows(dataDir, 'run').find(({ key }) => key === runId)?.value ?? 'no row',
    (text) => text.includes(`"status":"${status}"`),
  );
}
