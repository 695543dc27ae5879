import { mkdtempSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { v4 as uuidv4 } from 'uuid';
import { afterEach, expect, it } from 'vitest';
import { type CaptureKey, Captures } from './captures.ts';
import { CaptureCleaner } from './capture-cleaner.ts';
import { FolderBlobs } from '../../storage/blobs/folder-blobs.ts';

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

async function* bytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

async function openCaptures(recordIds: readonly string[]): Promise<{ captures: Captures; folder: string }> {
  const folder = mkdtempSync(path.join(tmpdir(), 'phalanx-cleaner-'));
  cleanUps.push(() => rm(folder, { recursive: true, force: true }));
  const captures = new Captures(await FolderBlobs.open(folder));
  for (const recordId of recordIds) {
    const key: CaptureKey = { recordId, screenId: uuidv4(), kind: 'tree' };
    await (await captures.receive(key, bytes('{}'))).keep();
  }
  return { captures, folder };
}

const recordsIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true }))
    .filter((name) => name.endsWith('.tree.zst'))
    .map((name) => name.split('/')[1] ?? '');

it('what is noted is done before the note goes, also when a deletion fails in between', async () => {
  const recordIds = Array.from({ length: 150 }, () => uuidv4());
  const { captures, folder } = await openCaptures(recordIds);
  const notes = new Set(recordIds);
  let failures = 1;
  const cleaner = new CaptureCleaner({
    captures,
    listDeletions: async (limit) => [...notes].slice(0, limit),
    endDeletion: async (id) => {
      if (notes.size === 100 && failures-- > 0) throw new Error('killed');
      notes.delete(id);
    },
    listKnown: async () => new Set(),
  });
  await expect(cleaner.clean()).rejects.toThrow('killed');
  expect(notes.size).toBe(100);
  await cleaner.clean();
  expect([notes.size, await recordsIn(folder)]).toEqual([0, []]);
});
