import path from 'node:path';
import Database from 'better-sqlite3';
import { Type } from 'typebox';

import { answerParent, command } from '../harness/answer-parent.ts';

let file: Database.Database | undefined;
let claim: ((now: number) => boolean) | undefined;

/** Tables with rows of the product's size, and the indexes that a claim needs. */
const tables = `
  CREATE TABLE task (id TEXT PRIMARY KEY, job_id TEXT NOT NULL, number INTEGER NOT NULL, status TEXT NOT NULL, input TEXT,
    run_id TEXT, device_id TEXT, attempts INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
  CREATE INDEX waiting ON task (job_id, number) WHERE status = 'waiting';
  CREATE TABLE run (id TEXT PRIMARY KEY, device_id TEXT NOT NULL, status TEXT NOT NULL, created_at INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE attempt (task_id TEXT NOT NULL, number INTEGER NOT NULL, run_id TEXT NOT NULL, began_at INTEGER NOT NULL,
    PRIMARY KEY (task_id, number)) WITHOUT ROWID;`;

answerParent({
  open: command(Type.Object({ folder: Type.String(), tasks: Type.Integer() }), ({ folder, tasks }) => {
    const db = new Database(path.join(folder, 'claims.db'));
    db.pragma('journal_mode = WAL');
    // A claim survives a power failure, as in the product.
    db.pragma('synchronous = FULL');
    db.exec(tables);
    const insert = db.prepare(
      `INSERT INTO task (id, job_id, number, status, input) VALUES (?, ?, ?, 'waiting', ?)`,
    );
    db.transaction(() => {
      for (let no = 0; no < tasks; no += 1)
        insert.run(crypto.randomUUID(), `job ${no % 3}`, no, `{"row":${no}}`);
    })();
    const next = db.prepare<[], { id: string }>(
      `SELECT id FROM task WHERE status = 'waiting' ORDER BY job_id, number LIMIT 1`,
    );
    const take = db.prepare(
      `UPDATE task SET status = 'running', run_id = ?, device_id = ?, attempts = attempts + 1 WHERE id = ?`,
    );
    const addRun = db.prepare(`INSERT INTO run VALUES (?, ?, 'starting', ?)`);
    const addAttempt = db.prepare('INSERT INTO attempt VALUES (?, 1, ?, ?)');
    claim = db.transaction((now: number): boolean => {
      const task = next.get();
      if (task === undefined) return false;
      const [runId, deviceId] = [crypto.randomUUID(), 'phone'];
      take.run(runId, deviceId, task.id);
      addRun.run(runId, deviceId, now);
      addAttempt.run(task.id, runId, now);
      return true;
    });
    file = db;
  }),
  /** Claims rows, one transaction each. Returns the duration of each in ms. */
  claim: command(Type.Object({ count: Type.Integer() }), ({ count }) => {
    if (file === undefined || claim === undefined) throw new Error('open comes first');
    const tookMs: number[] = [];
    for (let no = 0; no < count; no += 1) {
      const begunAt = performance.now();
      if (!claim(Date.now())) throw new Error('nothing waits any more');
      tookMs.push(performance.now() - begunAt);
    }
    return tookMs;
  }),
});
