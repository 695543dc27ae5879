import { Readable } from 'node:stream';

import { ApiError } from '../http/api-error.ts';
import type { Bucket, StoredObject } from '../s3/bucket.ts';
import type { SpooledBody, Spool } from '../s3/spool.ts';
import { capturePath, isRecordId, recordPath } from './capture-path.ts';
import type { CaptureKey, CaptureStore, ReceivedCapture, StoredCapture } from './capture-store.ts';
import { contentTypes } from './checked-body.ts';

const prefix = 'captures/';

const objectOf = (key: CaptureKey): string => prefix + capturePath(key);

/**
 * Captures in a bucket, with the names that they have in a folder: `captures/3f/<record>/<screen>.tree`. A body is on the
 * disk of this machine until it is whole.
 */
export class S3Captures implements CaptureStore {
  readonly #bucket: Bucket;
  readonly #spool: Spool;

  constructor(bucket: Bucket, spool: Spool) {
    this.#bucket = bucket;
    this.#spool = spool;
  }

  async receive(body: AsyncIterable<Uint8Array>): Promise<ReceivedCapture> {
    const spooled = await this.#spool.take(body);
    const discard = (): Promise<void> => spooled.remove();
    return { sizeBytes: spooled.sizeBytes, discard, keep: (key) => this.#keep(spooled, key) };
  }

  async find(key: CaptureKey): Promise<StoredCapture | undefined> {
    const name = objectOf(key);
    const found = await this.#bucket.find(name);
    if (found === undefined) return undefined;
    return {
      sizeBytes: found.sizeBytes,
      version: found.etag.replaceAll('"', ''),
      read: (range) => Readable.from(this.#pieces(name, found, range), { objectMode: false }),
      // Nothing is open before it is read.
      close: async () => undefined,
    };
  }

  async deleteRecord(id: string): Promise<void> {
    await this.#bucket.deleteBelow(`${prefix}${recordPath(id)}/`);
  }

  async listRecords(part: number): Promise<string[]> {
    const shard = `${prefix}${part.toString(16).padStart(2, '0')}/`;
    return (await this.#bucket.listFolders(shard)).filter((name) => isRecordId(name));
  }

  async #keep(spooled: SpooledBody, key: CaptureKey): Promise<void> {
    try {
      await this.#bucket.put(objectOf(key), spooled, contentTypes[key.kind]);
    } finally {
      await spooled.remove();
    }
  }

  async *#pieces(
    name: string,
    { etag, sizeBytes }: StoredObject,
    range: { first: number; last: number } | undefined,
  ): AsyncGenerator<Uint8Array> {
    // No range of bytes has nothing in it.
    if (sizeBytes === 0) return;
    const stream = await this.#bucket.read(name, { etag, ...(range !== undefined && { range }) });
    if (stream === undefined) throw ApiError.of('capture_not_found', {});
    yield* stream as AsyncIterable<Uint8Array>;
  }
}
