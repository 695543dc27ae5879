import path from 'node:path';
import Database from 'better-sqlite3';
import { Type } from 'typebox';

import { encodeBatch } from '../../apps/server/src/runs/logs/log-batch.ts';
import { IncreasingIds } from '../../apps/server/src/kernel/uuid-v7.ts';
import { LogFile } from '../../apps/server/src/runs/logs/tables/log-file-store.ts';
import { answerParent, command } from '../harness/answer-parent.ts';
import { sampleEntries } from '../hosts/log-sender.ts';

interface Parts {
  commit: () => void;
  append: () => void;
}

let parts: Parts | undefined;

/** Opens a store with the settings of the server's database. */
function openParts(folder: string): Parts {
  const sqlite = new Database(path.join(folder, 'commits.db'));
  sqlite.pragma('journal_mode = WAL');
  sqlite.pragma('synchronous = FULL');
  sqlite.exec('CREATE TABLE run (id TEXT PRIMARY KEY, status TEXT NOT NULL)');
  const insert = sqlite.prepare<[string, string]>('INSERT INTO run VALUES (?, ?)');
  const file = new LogFile(path.join(folder, 'logs.db'));
  const ids = new IncreasingIds();
  const stream = {
    runId: 'run',
    deviceId: 'device',
    automationId: 'automation',
    userId: 'owner',
    isDirect: true,
  };
  let lastSeq = 0;
  return {
    commit: () => void insert.run(crypto.randomUUID(), 'starting'),
    append() {
      lastSeq += 1;
      file.append([encodeBatch(ids, Date.now(), stream, { lastSeq, entries: sampleEntries(1) })]);
    },
  };
}

function elapsedMs(work: () => void): number {
  const startedAt = performance.now();
  work();
  return performance.now() - startedAt;
}

answerParent({
  open: command(Type.Object({ folder: Type.String() }), ({ folder }) => {
    parts = openParts(folder);
  }),
  /** Stores one row, synced to the disk, and one log entry in the server's format. */
  store: () => {
    if (parts === undefined) throw new Error('open first');
    return { commitMs: elapsedMs(parts.commit), appendMs: elapsedMs(parts.append) };
  },
});
