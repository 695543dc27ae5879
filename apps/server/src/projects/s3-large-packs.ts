import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';

import type { Bucket } from '../s3/bucket.ts';
import type { SpooledBody, Spool } from '../s3/spool.ts';
import {
  indexEnd,
  type LargePacks,
  largePackPaths,
  type PackIndex,
  type PackPieces,
  type StoredLarge,
} from './large-packs.ts';

const contentType = 'application/octet-stream';

/** Below the names that they have in a folder. */
const packPrefix = 'project-packs/';

class PackMissing extends Error {
  override readonly name = 'PackMissing';
  readonly code = 'ENOENT';
}

/** Large packs in a bucket. One is on the disk of this machine until it is whole, because only then its length is known. */
export class S3LargePacks implements LargePacks {
  readonly #bucket: Bucket;
  readonly #spool: Spool | undefined;

  private constructor(bucket: Bucket, spool?: Spool) {
    this.#bucket = bucket;
    this.#spool = spool;
  }

  /** To read in. */
  static at(bucket: Bucket): S3LargePacks {
    return new S3LargePacks(bucket);
  }

  static open(bucket: Bucket, spool: Spool): S3LargePacks {
    return new S3LargePacks(bucket, spool);
  }

  async put(projectId: string, pieces: PackPieces, index: () => PackIndex): Promise<StoredLarge> {
    if (this.#spool === undefined) throw new Error('these packs are only read');
    const key = `${projectId}/${randomUUID()}`;
    const pack = await this.#spool.take(pieces);
    try {
      const { hash, index: bytes } = index();
      await this.#send(key + indexEnd, await this.#spool.take([bytes]));
      await this.#send(key, pack);
      return { hash, sizeBytes: pack.sizeBytes, key };
    } finally {
      await pack.remove();
    }
  }

  async copy(key: string, to: { pack: string; index: string }): Promise<void> {
    await this.#copyOne(key, to.pack);
    await this.#copyOne(key + indexEnd, to.index);
  }

  async remove(key: string): Promise<void> {
    await this.#bucket.delete(largePackPaths(key).map((name) => packPrefix + name));
  }

  async *list(): AsyncGenerator<string[]> {
    for await (const names of this.#bucket.listKeys(packPrefix)) {
      const keys = names.map((name) => name.slice(packPrefix.length));
      yield [...new Set(keys.map((key) => `${path.dirname(key)}/${path.basename(key, indexEnd)}`))];
    }
  }

  async #send(name: string, body: SpooledBody): Promise<void> {
    try {
      await this.#bucket.put(packPrefix + name, body, contentType);
    } finally {
      await body.remove();
    }
  }

  async #copyOne(name: string, file: string): Promise<void> {
    const stream = await this.#bucket.read(packPrefix + name);
    if (stream === undefined) throw new PackMissing(`${packPrefix}${name} is not in the bucket`);
    await pipeline(stream, createWriteStream(file, { flags: 'wx', mode: 0o600 }));
  }
}
