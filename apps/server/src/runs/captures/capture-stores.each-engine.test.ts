import { mkdtempSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { v4 as uuidv4 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FolderBlobs } from '../../storage/blobs/folder-blobs.ts';
import { Bucket } from '../../storage/blobs/s3/bucket.ts';
import { Spool, S3Blobs } from '../../storage/blobs/s3-blobs.ts';
import { makeTestBucket } from '../../testing/engines/test-bucket.ts';
import { isOnServers } from '../../testing/engines/test-database.ts';
import { type CaptureKey, Captures, partCount } from './captures.ts';
import { CaptureCleaner } from './capture-cleaner.ts';

const places = isOnServers ? (['S3'] as const) : (['a folder'] as const);

async function* bytes(...texts: (string | Error)[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) {
    if (text instanceof Error) throw text;
    yield Buffer.from(text);
  }
}

const newKey = (recordId: string = uuidv4(), kind: CaptureKey['kind'] = 'tree'): CaptureKey => ({
  recordId,
  screenId: uuidv4(),
  kind,
});

describe.each(places)('captures in %s', (place) => {
  let folder: string;
  let captures: Captures;
  let bucket: Bucket | undefined;
  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'phalanx-captures-'));
    if (place === 'S3') {
      bucket = new Bucket(await makeTestBucket());
      await bucket.open();
      const spool = await Spool.open(path.join(folder, 'incoming'));
      captures = new Captures(new S3Blobs({ bucket, prefix: 'captures/', spool }));
    } else captures = new Captures(await FolderBlobs.open(folder));
  });
  afterAll(async () => {
    bucket?.close();
    await rm(folder, { recursive: true });
  });

  const keep = async (key: CaptureKey, text: string): Promise<void> =>
    (await captures.receive(key, bytes(text))).keep();
  const contentOf = async (key: CaptureKey, range?: { first: number; last: number }) => {
    const capture = await captures.find(key);
    return capture && (await buffer(capture.read(range))).toString();
  };
  const incoming = (): Promise<string[]> => readdir(path.join(folder, 'incoming'));

  it.each(['tree', 'file'] as const)('are there when they are kept, whole and in parts: %s', async (kind) => {
    const key = newKey(uuidv4(), kind);
    const received = await captures.receive(key, bytes('01234', '56789'));
    expect(await captures.find(key)).toBeUndefined();
    await received.keep();
    const found = await captures.find(key);
    await found?.close();
    expect(found?.sizeBytes).toBe(10);
    expect(await contentOf(key)).toBe('0123456789');
    expect(await contentOf(key, { first: 3, last: 5 })).toBe('345');
    expect(await contentOf(key, { first: 9, last: 9 })).toBe('9');
    expect(await captures.find({ ...key, kind: 'screenshot' })).toBeUndefined();
    expect(await incoming()).toEqual([]);
  });

  it('that are trees take less room than their JSON', async () => {
    const key = newKey();
    const json = JSON.stringify(
      Array.from({ length: 500 }, (_, index) => ({ class: 'android.view.View', index })),
    );
    const received = await captures.receive(key, bytes(json.slice(0, 1000), json.slice(1000)));
    await received.keep();
    expect(received.sizeBytes).toBeLessThan(json.length / 4);
    expect(await contentOf(key)).toBe(json);
  });

  it('are replaced at once, and have another version then', async () => {
    const key = newKey();
    await keep(key, 'one');
    const before = await captures.find(key);
    await before?.close();
    await keep(key, 'another');
    const after = await captures.find(key);
    await after?.close();
    expect(after?.version).not.toBe(before?.version);
    expect(after?.version).toMatch(/^[\w-]+$/);
    expect(await contentOf(key)).toBe('another');
  });

  it('that are not kept, or break off, leave nothing', async () => {
    for (const key of [newKey(), newKey(uuidv4(), 'screenshot')]) {
      await (await captures.receive(key, bytes('discarded'))).discard();
      const broken = captures.receive(key, bytes('half', new Error('the phone is gone')));
      await expect(broken).rejects.toThrow('the phone is gone');
    }
    expect(await incoming()).toEqual([]);
  });

  it('are deleted with their record alone', async () => {
    const key = newKey();
    const sibling = newKey(key.recordId);
    const other = newKey(`${uuidv4().slice(0, -2)}${key.recordId.slice(-2)}`);
    for (const one of [key, sibling, other]) await keep(one, '{}');
    await captures.deleteRecord(key.recordId);
    expect(await Promise.all([key, sibling, other].map((one) => contentOf(one)))).toEqual([
      undefined,
      undefined,
      '{}',
    ]);
    await captures.deleteRecord(key.recordId);
    expect(await captures.listRecords(parseInt(key.recordId.slice(-2), 16))).toEqual([other.recordId]);
  });

  it('of no record go in one round over all parts, and no others', async () => {
    const recordIds = Array.from({ length: 40 }, () => uuidv4());
    const kept = new Set(recordIds.slice(0, 20));
    for (const recordId of recordIds) await keep(newKey(recordId), '{}');
    const cleaner = new CaptureCleaner({
      captures,
      listKnown: async (ids) => new Set(ids.filter((id) => kept.has(id))),
    });
    for (let part = 0; part < partCount; part += 1) await cleaner.cleanNextPart();
    const left = await Promise.all(
      Array.from({ length: partCount }, (_, part) => captures.listRecords(part)),
    );
    expect(new Set(left.flat())).toEqual(kept);
  });

  it('have no names but of UUIDs in lower case', async () => {
    const good = uuidv4();
    for (const bad of ['../../etc', '', `${good}/..`, good.toUpperCase(), `${good}\n`]) {
      const find = (key: Partial<CaptureKey>) => captures.find({ ...newKey(), ...key });
      await expect(find({ recordId: bad })).rejects.toThrow('not a UUID');
      await expect(find({ screenId: bad })).rejects.toThrow('not a UUID');
      await expect(captures.deleteRecord(bad)).rejects.toThrow('not a UUID');
    }
  });
});
