import type { WireLogEntry } from '@phalanx/protocol';
import { beforeAll, describe, expect, it } from 'vitest';
import { createAccessStore } from '../../../http/access/store.ts';
import type { Db } from '../../../storage/db/database.ts';
import { listEnqueued } from '../../../storage/db/work-queue.ts';
import { addRun } from '../../../testing/fleet-rows.ts';
import { openTestDatabase, engines } from '../../../testing/engines/test-database.ts';
import { IncreasingIds } from '../../../kernel/uuid-v7.ts';
import { encodeBatch, entriesIn, entrySeparator, replyOf, type StoredBatch } from '../log-batch.ts';
import { keepEntries } from './keep-entries.ts';
import { textIn, createKeptChunkStore } from './kept-chunk-store.ts';
import { createKeptLogStore } from './kept-log-store.ts';
import { ArchivedLogs } from './archived-logs.ts';

let db: Db;
const ids = new IncreasingIds();
const runs = ['a', 'b', 'c'].map((end) => `01a1ff1e-4506-70f5-9c2b-2ba8fcf6bd5${end}`);
const options = () => ({ chunks: createKeptChunkStore(db, 'log'), maxBytes: 1024 * 1024 });
const kept = () => new ArchivedLogs(options());

/** Creates batches of the three runs in turn. */
const batches = (count: number): StoredBatch[] =>
  Array.from({ length: count }, (_, at) => {
    const runId = runs[at % runs.length] ?? '';
    const stream = { runId, deviceId: 'one', automationId: 'one', userId: 'u', isDirect: true };
    const entries: WireLogEntry[] = [[1, 0, 0, `${at} ${'x'.repeat(9000)}`]];
    const batch = encodeBatch(ids, 1e12, stream, { lastSeq: at, entries });
    const { firstId: first_id, lastId: last_id, oldest } = batch;
    return { first_id, last_id, oldest, count: 1, entries: entriesIn(replyOf([Buffer.from(batch.entries)])) };
  });

async function* inSteps(all: readonly StoredBatch[]): AsyncGenerator<readonly StoredBatch[]> {
  for (let first = 0; first < all.length; first += 50) yield all.slice(first, first + 50);
}

async function textsOf(runId: string): Promise<string[]> {
  const chunks = await kept().read(runId);
  const texts = await Promise.all(chunks.map(textIn));
  const entries = texts.flatMap((text) => text.split(entrySeparator));
  return entries.map((entry) => entry.slice(entry.indexOf('message":"') + 10).split(' ')[0] ?? '');
}

/** Archive that fails at one append, before or after the chunks are stored. */
class FailingLogs extends ArchivedLogs {
  left = Infinity;
  isAfter = false;

  override async append(...args: Parameters<ArchivedLogs['append']>): ReturnType<ArchivedLogs['append']> {
    const fails = (this.left -= 1) < 0;
    if (!fails || this.isAfter) await super.append(...args);
    if (fails) throw new Error('killed');
  }
}

describe.each(engines)('the kept entries of runs beside %s', (engine) => {
  beforeAll(async () => {
    db = await openTestDatabase(engine);
    await createAccessStore(db).insertUser({ id: 'u', name: 'u', role: 'user', created_at: 0 });
    for (const runId of runs) await addRun(db, runId);
  });

  it('keeps each entry once, wherever it is broken off, and done again', async () => {
    const all = batches(120);
    for (let survived = 0; ; survived += 1) {
      const logs = new FailingLogs(options());
      logs.left = survived % 3;
      logs.isAfter = survived % 2 === 0;
      const isDone = await keepEntries(inSteps(all), { log: logs, trace: kept() }).then(
        () => true,
        () => false,
      );
      if (isDone) break;
      expect(survived).toBeLessThan(100);
      if (survived > 6) await keepEntries(inSteps(all), { log: kept(), trace: kept() });
    }
    for (const [index, runId] of runs.entries()) {
      const expected = Array.from({ length: 40 }, (_, at) => String(at * runs.length + index));
      expect(await textsOf(runId)).toEqual(expected);
      expect((await options().chunks.statesOf([runId])).get(runId)?.next).toBe(41);
    }
  });

  it('deletes what is kept of runs that are gone, in small steps, also with their user', async () => {
    const store = createKeptChunkStore(db, 'log');
    const gone = Array.from({ length: 20 }, () => crypto.randomUUID());
    await createAccessStore(db).insertUser({ id: 'v', name: 'v', role: 'user', created_at: 0 });
    for (const id of gone) await addRun(db, id, 'v');
    const chunk = { first: 1, count: 1, last_id: '1', packed: Buffer.from('x') };
    await store.add(new Map(gone.map((id) => [id, chunk])));
    expect((await store.statesOf(gone)).size).toBe(20);
    await db.deleteFrom('user').where('id', '=', 'v').execute();
    const enqueued = await listEnqueued(db, 'delete kept logs');
    expect(enqueued.toSorted()).toEqual(gone.toSorted());
    await createKeptLogStore(db).delete(enqueued);
    expect((await store.statesOf(gone)).size).toBe(0);
    expect((await store.statesOf(runs)).size).toBe(3);
  });
});
