import { mkdir, mkdtemp, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { Type } from 'typebox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type HostStore, openHostStore } from './host-store.ts';

let dir: string;
let store: HostStore;
let lines: { level: number; msg: string }[] = [];

async function open(tidyMs?: number): Promise<void> {
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  store = await openHostStore({ dir, log, ...(tidyMs === undefined ? {} : { tidyMs }) });
}

async function reopen(change: () => Promise<void> = async () => {}): Promise<void> {
  await store.close();
  await change();
  await open();
}

const shape = Type.Object({ count: Type.Integer() });
const table = () => store.table('run', shape);
async function entries(): Promise<(readonly [string, { count: number } | undefined])[]> {
  const all = [];
  for await (const entry of table().entries()) all.push(entry);
  return all;
}

beforeEach(async () => {
  lines = [];
  dir = await mkdtemp(join(tmpdir(), 'phalanx-store-'));
  await open();
});

afterEach(async () => {
  await store.close();
  await rm(dir, { recursive: true });
});

describe('the store of a host', () => {
  it('keeps the last value of a key, in the order of the keys', async () => {
    await table().put('b', { count: 1 });
    await table().putAll([
      ['b', { count: 2 }],
      ['a', { count: 3 }],
    ]);
    await table().put('c', { count: 4 }, { isDurable: true });
    await reopen();
    expect(await entries()).toEqual([
      ['a', { count: 3 }],
      ['b', { count: 2 }],
      ['c', { count: 4 }],
    ]);
    expect(await table().get('b')).toEqual({ count: 2 });
    expect(await table().get('d')).toBeUndefined();
  });

  it('forgets a value, and one that it never had', async () => {
    await table().put('a', { count: 1 });
    await table().remove('a');
    await table().remove('b');
    expect(await entries()).toEqual([]);
  });

  it.each(['', '{"count":', '{"count":"many"}'])('knows the key of the value %j', async (value) => {
    await store.thread.run({
      text: 'INSERT INTO run (key, value) VALUES (?, ?)',
      parameters: ['a', value],
    });
    expect(await entries()).toEqual([['a', undefined]]);
    expect(await table().get('a')).toBeUndefined();
  });

  it('writes all values or none on a full disk, and goes on when there is room again', async () => {
    await store.thread.run({ text: 'PRAGMA max_page_count = 1' });
    const large = Array.from({ length: 2000 }, (_, index) => [`key ${index}`, { count: index }] as const);
    await expect(table().putAll(large)).rejects.toMatchObject({ code: 'SQLITE_FULL' });
    expect(await entries()).toEqual([]);
    await store.thread.run({ text: 'PRAGMA max_page_count = 1000000' });
    await table().putAll(large);
    expect(await entries()).toHaveLength(2000);
  });

  it.each([
    ['is no database', (file: string) => writeFile(file, 'something else '.repeat(1000))],
    ['lacks a part', (file: string) => truncate(file, 3 * 4096)],
  ])('sets a file aside that %s, and begins anew', async (_, damage) => {
    await table().putAll([...Array(500).keys()].map((index) => [`key ${index}`, { count: index }]));
    await reopen(() => damage(join(dir, 'host.db')));
    expect(await readdir(dir)).toContain('host.db.damaged');
    expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
      [50, 'The database of the host is damaged: it was set aside, and a new one begun'],
    ]);
    await table().put('a', { count: 1 });
    await reopen();
    expect(await entries()).toEqual([['a', { count: 1 }]]);
  });

  it('gives the space of what is deleted back to the disk while it is open', async () => {
    await store.close();
    await open(10);
    const values = Array.from(
      { length: 5000 },
      (_, index) => [`${index}`.repeat(100), { count: index }] as const,
    );
    await table().putAll(values);
    const sizes = async () => {
      const files = ['host.db', 'host.db-wal'].map((name) => stat(join(dir, name)));
      return (await Promise.all(files)).map(({ size }) => size);
    };
    await expect.poll(sizes).toEqual([expect.toSatisfy((size: number) => size > 1_000_000), 0]);
    await store.thread.run({ text: 'DELETE FROM run' });
    await expect.poll(sizes).toEqual([expect.toSatisfy((size: number) => size < 100_000), 0]);
  });

  it('tells the code of SQLite when its file can not be opened', async () => {
    const folder = join(dir, 'other');
    await mkdir(join(folder, 'host.db'), { recursive: true });
    const opening = openHostStore({ dir: folder, log: pino({ level: 'silent' }) });
    await expect(opening).rejects.toMatchObject({ code: 'SQLITE_CANTOPEN' });
  });
});
