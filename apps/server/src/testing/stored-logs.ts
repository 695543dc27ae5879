import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import Sqlite from 'better-sqlite3';
import { Client } from 'pg';
import { databaseFileOf } from '../storage/db/database.ts';
import { databaseSettings } from './engines/test-database.ts';
import type { TestServer } from './test-server.ts';

const tables = Array.from({ length: 16 }, (_, slot) => `log_${slot}`);

async function ask(server: TestServer, statement: string): Promise<Record<string, unknown>[]> {
  if (server.engine === 'SQLite') {
    const sqlite = new Sqlite(databaseFileOf(server.dataDir), { readonly: true });
    try {
      return sqlite.prepare<[], Record<string, unknown>>(statement).all();
    } finally {
      sqlite.close();
    }
  }
  const { PHALANX_DATABASE_URL: url } = await databaseSettings(server.dataDir, server.engine);
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await client.end();
  }
}

/** Counts the parts in which a server has the log entries of the last minutes, on its disk or in its database. */
export async function countLogParts(server: TestServer): Promise<number> {
  if (server.engine === 'SQLite') return (await server.logFiles()).length;
  const filled = tables.map((table) => `SELECT WHERE EXISTS (SELECT FROM ${table})`);
  return (await ask(server, filled.join(' UNION ALL '))).length;
}

/** Whether a table is closed and not kept yet; a log file can be read by no other program. */
export async function hasClosedLogs(server: TestServer): Promise<boolean> {
  if (server.engine === 'SQLite') return false;
  return (await ask(server, "SELECT FROM log_table WHERE state = 'closed'")).length > 0;
}

/** Reads the same log entries, as text in which they can be looked for. */
export async function storedLogText(server: TestServer): Promise<string> {
  if (server.engine === 'PostgreSQL') {
    const texts = await ask(
      server,
      tables.map((table) => `SELECT entries FROM ${table}`).join(' UNION ALL '),
    );
    return texts.map(({ entries }) => String(entries)).join('');
  }
  const folder = path.join(server.dataDir, 'logs');
  const files = (await readdir(folder)).map((name) => readFile(path.join(folder, name), 'latin1'));
  return (await Promise.all(files)).join('');
}

/** Number of bytes that are kept of a run. */
export async function keptBytes(server: TestServer, runId: string): Promise<number> {
  const statement = `SELECT coalesce(sum(size_bytes), 0) AS bytes FROM kept_chunk WHERE run_id = '${runId}'`;
  return Number((await ask(server, statement))[0]?.['bytes']);
}

/** ID of the last log entry that is kept of a run; undefined when there is none. */
export async function lastKeptId(server: TestServer, runId: string): Promise<unknown> {
  const statement = `SELECT max(last_id) AS id FROM kept_chunk WHERE kind = 'log' AND run_id = '${runId}'`;
  return (await ask(server, statement))[0]?.['id'] ?? undefined;
}
