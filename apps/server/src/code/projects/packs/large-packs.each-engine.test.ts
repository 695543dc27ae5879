import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorCodeOf } from '../../../kernel/errors/api-error.ts';
import { FolderBlobs } from '../../../storage/blobs/folder-blobs.ts';
import { Bucket } from '../../../storage/blobs/s3/bucket.ts';
import { Spool, S3Blobs } from '../../../storage/blobs/s3-blobs.ts';
import { makeTestBucket } from '../../../testing/engines/test-bucket.ts';
import { isOnServers } from '../../../testing/engines/test-database.ts';
import { LargePacks, piecesOf } from './large-packs.ts';

const places = isOnServers ? (['S3'] as const) : (['a folder'] as const);

describe.each(places)('large packs in %s', (place) => {
  let folder: string;
  let packs: LargePacks;
  let bucket: Bucket | undefined;
  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'phalanx-packs-'));
    if (place === 'S3') {
      bucket = new Bucket(await makeTestBucket());
      await bucket.open();
      const spool = await Spool.open(path.join(folder, 'packs', 'incoming'));
      packs = new LargePacks(new S3Blobs({ bucket, prefix: 'project-packs/', spool }));
    } else packs = new LargePacks(await FolderBlobs.open(path.join(folder, 'packs')));
  });
  afterAll(async () => {
    bucket?.close();
    await rm(folder, { recursive: true });
  });

  const index = () => ({ hash: 'a'.repeat(40), index: Buffer.from('index') });
  const newFiles = () => {
    const file = path.join(folder, randomUUID());
    return { pack: file, index: `${file}.index` };
  };
  async function keys(): Promise<string[]> {
    const found: string[] = [];
    for await (const some of packs.list()) found.push(...some);
    return found;
  }

  it('are copied to files as they were put', async () => {
    const project = randomUUID();
    const content = randomBytes(3_000_000);
    const pieces = [content.subarray(0, 1_000_000), content.subarray(1_000_000)];
    const { key, hash, sizeBytes } = await packs.put(project, pieces, index);
    expect({ hash, sizeBytes }).toEqual({ hash: 'a'.repeat(40), sizeBytes: content.byteLength });
    const to = newFiles();
    await packs.copy(key, to);
    expect((await readFile(to.pack)).equals(content)).toBe(true);
    expect(await readFile(to.index, 'utf8')).toBe('index');
    // Stores the pack from a file, as git has written it.
    const again = await packs.put(project, piecesOf(to.pack), index);
    expect(again.sizeBytes).toBe(content.byteLength);
    expect((await keys()).toSorted()).toEqual([key, again.key].toSorted());
    await packs.remove(key);
    await packs.remove(key);
    expect(await keys()).toEqual([again.key]);
  });

  it('that are missing are told as missing files', async () => {
    const copied = packs.copy(`${randomUUID()}/${randomUUID()}`, newFiles());
    expect(errorCodeOf(await copied.catch((error: unknown) => error))).toBe('ENOENT');
  });

  it('that break off leave nothing', async () => {
    const before = await keys();
    const broken = async function* (): AsyncGenerator<Buffer> {
      yield Buffer.from('half');
      throw new Error('git has ended');
    };
    await expect(packs.put(randomUUID(), broken(), index)).rejects.toThrow('git has ended');
    const noIndex = () => {
      throw new Error('no index');
    };
    await expect(packs.put(randomUUID(), [Buffer.from('whole')], noIndex)).rejects.toThrow('no index');
    expect(await keys()).toEqual(before);
    expect(await readdir(path.join(folder, 'packs', 'incoming'))).toEqual([]);
  });
});
