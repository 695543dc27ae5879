import { mkdir, open } from 'node:fs/promises';
import path from 'node:path';
import Database from 'better-sqlite3';
import { Type } from 'typebox';

import { answerParent, command } from '../harness/answer-parent.ts';
import { sampleCaptures, sampleRecord } from '../hosts/sample-record.ts';

let store: ((count: number) => Promise<void>) | undefined;

async function writeDurably(file: string, bytes: Buffer): Promise<void> {
  const handle = await open(file, 'wx');
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Opens a store with the settings of the server's database. */
function openStore(folder: string): (count: number) => Promise<void> {
  const sqlite = new Database(path.join(folder, 'records.db'));
  sqlite.pragma('journal_mode = WAL');
  sqlite.pragma('synchronous = FULL');
  sqlite.exec('CREATE TABLE row (id TEXT PRIMARY KEY, content TEXT NOT NULL)');
  const insert = sqlite.prepare<[string, string]>('INSERT INTO row VALUES (?, ?)');
  return async (count) => {
    for (let done = 0; done < count; done += 1) {
      const record = sampleRecord(crypto.randomUUID());
      const captures = path.join(folder, record.record_id);
      await mkdir(captures);
      for (const { screen_id } of record.screens) {
        await writeDurably(path.join(captures, `${screen_id}.tree`), sampleCaptures.tree);
        await writeDurably(path.join(captures, `${screen_id}.screenshot`), sampleCaptures.screenshot);
      }
      sqlite.transaction(() => {
        insert.run(record.record_id, JSON.stringify({ ...record, screens: [] }));
        for (const screen of record.screens) insert.run(screen.screen_id, JSON.stringify(screen));
      })();
    }
  };
}

answerParent({
  open: command(Type.Object({ folder: Type.String() }), ({ folder }) => {
    store = openStore(folder);
  }),
  /** Stores records one by one. Returns the total time in ms. */
  store: command(Type.Object({ records: Type.Integer() }), async ({ records }) => {
    if (store === undefined) throw new Error('open comes first');
    const startedAt = performance.now();
    await store(records);
    return performance.now() - startedAt;
  }),
});
