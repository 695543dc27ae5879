import { createHash } from 'node:crypto';
import { readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { SqliteStatement, SqliteThread } from '@phalanx/sqlite-thread';
import type { JsonTableName } from './tables.ts';

const json = '.json';
const body = '.data';
const spoolName = /^([0-9a-fA-F-]{36})\.(\d{1,15})\.ndjson$/;
/** Folders that hold nothing once they are imported. */
const emptied = ['runs', 'spool', 'phones', 'known-phones', 'phone-settings'];

/**
 * Imports what earlier versions of the host kept in seven folders, at the first start after the upgrade. It may be
 * interrupted at any point: the next start imports the rest.
 */
export async function importFolders(dir: string, thread: SqliteThread): Promise<void> {
  const rows = [
    ...(await readJsonFiles(dir, { folder: 'runs', table: 'run' })),
    ...(await readJsonFiles(dir, { folder: 'files', table: 'run_file' })),
    ...(await readRecords(dir)),
    ...(await readPhones(dir)),
    ...(await readSpool(dir)),
  ];
  if (rows.length > 0) await thread.transact(rows, { isDurable: true });
  await moveCaptures(join(dir, 'records'));
  for (const name of await list(dir, 'files'))
    if (name.endsWith(json)) await rm(join(dir, 'files', name), { force: true });
  for (const folder of emptied) await rm(join(dir, folder), { recursive: true, force: true });
}

const list = (...path: string[]): Promise<string[]> => readdir(join(...path)).catch(() => []);

const put = (table: JsonTableName, key: string, value: string): SqliteStatement => ({
  text: `INSERT OR IGNORE INTO ${table} (key, value) VALUES (?, ?)`,
  parameters: [key, value],
});

async function readJsonFiles(
  dir: string,
  { folder, table }: { folder: string; table: JsonTableName },
): Promise<SqliteStatement[]> {
  const names = (await list(dir, folder)).filter((name) => name.endsWith(json));
  return Promise.all(
    names.map(async (name) =>
      put(table, name.slice(0, -json.length), await readFile(join(dir, folder, name), 'utf8')),
    ),
  );
}

/** A record was a folder with an index and its captures; one with the end `.tmp` was not complete. */
async function readRecords(dir: string): Promise<SqliteStatement[]> {
  const names = (await list(dir, 'records')).filter((name) => !name.endsWith(body));
  const rows = names.map(async (name) => {
    const index = await readFile(join(dir, 'records', name, 'record.json'), 'utf8').catch(() => undefined);
    return index === undefined ? [] : [put('record', name.replace(/\.tmp$/, ''), index)];
  });
  return (await Promise.all(rows)).flat();
}

async function moveCaptures(folder: string): Promise<void> {
  for (const name of await list(folder)) {
    if (name.endsWith(body)) continue;
    const captures = join(folder, name, 'captures');
    const target = join(folder, name.replace(/\.tmp$/, '') + body);
    const isMoved = await rename(captures, target).then(
      () => true,
      () => false,
    );
    if (isMoved) await rm(join(folder, name), { recursive: true });
  }
}

/** Files of phones were named by a hash of the phone's key, which only the known phones contain. */
async function readPhones(dir: string): Promise<SqliteStatement[]> {
  const rows: SqliteStatement[] = [];
  for (const name of await list(dir, 'known-phones')) {
    const text = await readFile(join(dir, 'known-phones', name), 'utf8');
    const key = keyOf(text);
    if (key === undefined) continue;
    rows.push(put('known_phone', key, text));
    const hash = createHash('sha256').update(key).digest('hex').slice(0, 32);
    for (const [folder, table] of [
      ['phones', 'phone_history'],
      ['phone-settings', 'earlier_settings'],
    ] as const) {
      const value = await readFile(join(dir, folder, hash + json), 'utf8').catch(() => undefined);
      if (value !== undefined) rows.push(put(table, key, value));
    }
  }
  return rows;
}

function keyOf(text: string): string | undefined {
  const phone = parse(text);
  const isPhone = typeof phone === 'object' && phone !== null && 'key' in phone;
  return isPhone && typeof phone.key === 'string' ? phone.key : undefined;
}

/** A log was files of lines; each line is the JSON of `[number of the first entry, entry, entry, …]`. */
async function readSpool(dir: string): Promise<SqliteStatement[]> {
  const rows: SqliteStatement[] = [];
  for (const name of await list(dir, 'spool')) {
    const runId = spoolName.exec(name)?.[1];
    if (runId === undefined) continue;
    for (const line of (await readFile(join(dir, 'spool', name), 'utf8')).split('\n')) {
      const [first, ...entries] = arrayOf(parse(line));
      // A killed host has left the last line incomplete.
      if (typeof first !== 'number' || entries.length === 0) break;
      rows.push({
        text: 'INSERT OR IGNORE INTO log_chunk (run_id, first_seq, last_seq, entries) VALUES (?, ?, ?, ?)',
        parameters: [runId, first, first + entries.length - 1, JSON.stringify(entries).slice(1, -1)],
      });
    }
  }
  return rows;
}

const arrayOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
