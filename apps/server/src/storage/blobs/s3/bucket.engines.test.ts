import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { SettingError } from '@phalanx/settings';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findFault } from '../../../kernel/faults/fault-monitor.ts';
import { isS3Here, makeTestBucket, type TestBucket } from '../../../testing/engines/test-bucket.ts';
import { bodyOf, Bucket } from './bucket.ts';

const timeouts = { silentMs: 5000, retryMs: 1 };

describe.skipIf(!isS3Here)('a bucket of a real S3 storage', () => {
  let made: TestBucket;
  let bucket: Bucket;
  beforeAll(async () => {
    made = await makeTestBucket();
    bucket = new Bucket(made, timeouts);
  });
  afterAll(() => bucket.close());

  const contentOf = async (key: string, how = {}): Promise<string | undefined> => {
    const stream = await bucket.read(key, how);
    return stream && (await buffer(stream)).toString();
  };
  const keysBelow = async (prefix: string): Promise<string[]> => {
    const keys: string[] = [];
    for await (const some of bucket.listKeys(prefix)) keys.push(...some);
    return keys;
  };

  it('opens, and answers probes', async () => {
    await bucket.open();
    await expect(bucket.probe({ isThorough: false })).resolves.toBeUndefined();
  });

  it('gives back what was put, whole and in parts, and says when it is another one', async () => {
    await bucket.put('a/one', bodyOf('0123456789'), 'text/plain');
    const found = await bucket.find('a/one');
    expect(found).toMatchObject({ sizeBytes: 10, etag: expect.stringMatching(/^".+"$/) });
    const etag = found?.etag ?? '';
    expect(await contentOf('a/one', { etag })).toBe('0123456789');
    expect(await contentOf('a/one', { etag, range: { first: 2, last: 4 } })).toBe('234');
    await bucket.put('a/one', bodyOf('other'), 'text/plain');
    expect((await bucket.find('a/one'))?.etag).not.toBe(etag);
    expect(await contentOf('a/one', { etag })).toBeUndefined();
  });

  it('has nothing where nothing was put', async () => {
    expect(await bucket.find('a/nothing')).toBeUndefined();
    expect(await bucket.read('a/nothing')).toBeUndefined();
    await bucket.delete(['a/nothing']);
  });

  it('takes no content but the one that was announced, and keeps nothing of a body that breaks off', async () => {
    const sha256 = createHash('sha256').update('announced').digest('hex');
    const other = { sizeBytes: 9, sha256, open: () => Readable.from([Buffer.from('something')]) };
    await expect(bucket.put('a/wrong', other, 'text/plain')).rejects.toThrow();
    const bytes = randomBytes(100_000);
    const broken = {
      sizeBytes: bytes.byteLength,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      open: () =>
        Readable.from(
          (async function* () {
            yield bytes.subarray(0, 50_000);
            throw new Error('the disk is gone');
          })(),
        ),
    };
    await expect(bucket.put('a/broken', broken, 'text/plain')).rejects.toThrow('the disk is gone');
    for (const key of ['a/wrong', 'a/broken']) expect(await bucket.find(key)).toBeUndefined();
  });

  it('lists and deletes more than a page has', async () => {
    const names = Array.from({ length: 1010 }, (_, at) => `many/${at % 3}/${String(at).padStart(4, '0')}`);
    for (let first = 0; first < names.length; first += 50)
      await Promise.all(
        names.slice(first, first + 50).map((key) => bucket.put(key, bodyOf(''), 'text/plain')),
      );
    await bucket.put('many-others', bodyOf(''), 'text/plain');
    expect(await bucket.listFolders('many/')).toEqual(['0', '1', '2']);
    expect(await keysBelow('many/')).toEqual(names.toSorted());
    await bucket.delete(names.slice(0, 1005));
    expect(await keysBelow('many/')).toHaveLength(5);
    await bucket.deleteBelow('many/');
    expect(await keysBelow('many')).toEqual(['many-others']);
  });

  it.each([
    ['the secret key', { secretKey: 'wrong' }, /the secret key is wrong/],
    ['the access key', { accessKey: 'WRONG' }, /does not know the access key/],
    ['the bucket', { bucket: 'no-such-bucket' }, /the bucket is not there/],
  ])(
    'that refuses because of %s is a setting to be mended, and no secret is told',
    async (_, wrong, told) => {
      const other = new Bucket({ ...made, ...wrong }, timeouts);
      const error: unknown = await other.open().catch((thrown: unknown) => thrown);
      other.close();
      expect(error).toBeInstanceOf(SettingError);
      expect(String(error)).toMatch(told);
      expect(String(error)).not.toContain(made.secretKey);
    },
  );

  it('that refuses later is a fault of its part', async () => {
    const other = new Bucket({ ...made, bucket: 'no-such-bucket' }, timeouts);
    const error: unknown = await other.put('a', bodyOf('b'), 'text/plain').catch((thrown: unknown) => thrown);
    other.close();
    expect(findFault(error)).toMatchObject({ part: 's3', code: 'bucket_unavailable' });
  });
});
