import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { encodeBatch } from '../log-batch.ts';
import { IncreasingIds } from '../../uuid-v7.ts';
import { LogSegment } from '../segments/segment-store.ts';
import { FolderChunks } from './folder-chunks.ts';
import { keepEntries } from './keep-entries.ts';
import { entriesIn } from './kept-chunk.ts';
import { KeptLogs } from './kept-logs.ts';

let folder: string;
let segment: LogSegment;
const ids = new IncreasingIds();
const runs = ['a', 'b', 'c'].map((end) => `01a1ff1e-4506-70f5-9c2b-2ba8fcf6bd5${end}`);
const options = () => ({
  chunks: new FolderChunks(path.join(folder, 'kept')),
  maxBytes: 1024 * 1024,
  isShared: false,
});
const kept = () => new KeptLogs(options());

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'phalanx-kept-'));
  segment = new LogSegment(path.join(folder, '1.db'));
});
afterEach(async () => {
  segment.delete();
  await rm(folder, { recursive: true });
});

/** Two of the runs share device and automation. */
function fill(batches: number): void {
  for (let at = 0; at < batches; at += 1) {
    const runId = runs[at % runs.length] ?? '';
    const of = runId === runs[2] ? 'other' : 'one';
    const stream = {
      runId,
      deviceId: of,
      automationId: of,
      ...{ ownerId: 'u', userId: 'u', isDirect: true },
    };
    const lastSeq = Math.floor(at / runs.length) + 1;
    segment.append([
      encodeBatch(ids, 1e12, stream, { lastSeq, entries: [[1, 0, 0, `${at} ${'x'.repeat(9000)}`]] }),
    ]);
  }
}

async function textsOf(runId: string): Promise<string[]> {
  const chunks = await kept().read(runId);
  const entries = (await Promise.all(chunks.map(entriesIn))).flat();
  return entries.map((entry) => entry.slice(entry.indexOf('message":"') + 10).split(' ')[0] ?? '');
}

/** Fails at one of its appends, before or after the chunk is in the file. */
class FailingLogs extends KeptLogs {
  left = Infinity;
  isAfter = false;

  override async append(...args: Parameters<KeptLogs['append']>): Promise<void> {
    const fails = (this.left -= 1) < 0;
    if (!fails || this.isAfter) await super.append(...args);
    if (fails) throw new Error('killed');
  }
}

it('keeps each entry once, wherever it is broken off, and done again', async () => {
  fill(120);
  for (let survived = 0; ; survived += 1) {
    const logs = new FailingLogs(options());
    logs.left = survived % 3;
    logs.isAfter = survived % 2 === 0;
    const isDone = await keepEntries(segment, logs).then(
      () => true,
      () => false,
    );
    if (isDone) break;
    expect(survived).toBeLessThan(100);
    if (survived > 6) await keepEntries(segment, kept());
  }
  for (const [index, runId] of runs.entries()) {
    const expected = Array.from({ length: 40 }, (_, at) => String(at * runs.length + index));
    expect(await textsOf(runId)).toEqual(expected);
    expect((await kept().stateOf(runId)).seq).toBe(40);
  }
});
