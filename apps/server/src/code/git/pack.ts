import { createHash, hash, type Hash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { promisify } from 'node:util';
import { crc32, createDeflate, deflate, deflateSync } from 'node:zlib';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { minuteMs } from '@phalanx/timing/durations';
import { type GitProgram, runGit } from './git-process.ts';

/** Git's numbers of the object types. */
export const objectTypes = { commit: 1, tree: 2, blob: 3 } as const;

export interface PackedObject {
  readonly id: string;
  readonly type: keyof typeof objectTypes;
  readonly sizeBytes: number;
  /** Content in memory, or the path of a file that holds it. */
  readonly content: Buffer | string;
}

/** Pack with its index, in the format of git's pack folder. */
export interface Pack {
  /** Checksum at the end of the pack, which is part of the pack's file name in git. */
  readonly hash: string;
  readonly pack: Buffer;
  readonly index: Buffer;
}

interface Place {
  readonly id: string;
  readonly offset: number;
  readonly crc: number;
}

const idLength = 20;
/** Fastest compression level. Upkeep repacks the objects later. */
const compression = { level: 1 } as const;
/** Maximum size of content that is compressed synchronously. Below this size, a thread costs more than it saves. */
const maxSyncBytes = 32 * 1024;
const deflateInThread = promisify<Buffer, typeof compression, Buffer>(deflate);

/**
 * Builds the header of an entry with type and size: the lowest four bits of the size first, then seven bits per byte,
 * the lowest first.
 */
function entryHeader({ type, sizeBytes }: PackedObject): Buffer {
  const bytes = [];
  let rest = Math.floor(sizeBytes / 16);
  let byte = (objectTypes[type] << 4) | (sizeBytes & 15);
  while (rest > 0) {
    bytes.push(byte | 0x80);
    byte = rest & 0x7f;
    rest = Math.floor(rest / 128);
  }
  return Buffer.from([...bytes, byte]);
}

async function* compressed({ content }: PackedObject): AsyncGenerator<Buffer> {
  if (typeof content === 'string') {
    // Ignores errors in the callback, because the reader of the pieces gets them.
    const stream = pipeline(createReadStream(content), createDeflate(compression), () => undefined);
    for await (const piece of stream) if (Buffer.isBuffer(piece)) yield piece;
  } else if (content.length > maxSyncBytes) yield await deflateInThread(content, compression);
  else yield deflateSync(content, compression);
}

/** Writes a pack of whole objects in pieces. `hash` and `index()` are valid once all pieces were consumed. */
export class PackWriter {
  readonly #objects: readonly PackedObject[];
  readonly #sum: Hash = createHash('sha1');
  readonly #places: Place[] = [];
  #offset = 0;
  #hash = '';

  constructor(objects: readonly PackedObject[]) {
    this.#objects = objects;
  }

  get hash(): string {
    return this.#hash;
  }

  async *pieces(): AsyncGenerator<Buffer> {
    const head = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1');
    head.writeUInt32BE(this.#objects.length, 8);
    yield this.#count(head);
    for (const object of this.#objects) {
      const offset = this.#offset;
      const header = entryHeader(object);
      let crc = crc32(header);
      yield this.#count(header);
      for await (const piece of compressed(object)) {
        crc = crc32(piece, crc);
        yield this.#count(piece);
      }
      this.#places.push({ id: object.id, offset, crc });
    }
    const sum = this.#sum.digest();
    this.#hash = sum.toString('hex');
    yield sum;
  }

  /**
   * Builds a pack index in git's version 2 format: counts of names up to each first byte, then names, checksums and
   * offsets, sorted by name.
   */
  index(): Buffer {
    const places = this.#places.toSorted((one, other) => (one.id < other.id ? -1 : 1));
    const count = places.length;
    const [names, crcs] = [8 + 256 * 4, 8 + 256 * 4 + count * idLength];
    const offsets = crcs + count * 4;
    const far = places.filter(({ offset }) => offset > maxNearOffset);
    const index = Buffer.alloc(offsets + count * 4 + far.length * 8 + 2 * idLength);
    index.write('\xfftOc\0\0\0\x02', 'latin1');
    for (const [at, { id, crc, offset }] of places.entries()) {
      index.write(id, names + at * idLength, 'hex');
      index.writeUInt32BE(crc, crcs + at * 4);
      const isFar = offset > maxNearOffset;
      const near = isFar ? 0x80000000 + far.findIndex((place) => place.id === id) : offset;
      index.writeUInt32BE(near, offsets + at * 4);
    }
    for (const [at, { offset }] of far.entries())
      index.writeBigUInt64BE(BigInt(offset), offsets + count * 4 + at * 8);
    writeFanout(index, places);
    const end = index.length - 2 * idLength;
    index.write(this.#hash, end, 'hex');
    index.write(hash('sha1', index.subarray(0, end + idLength), 'hex'), end + idLength, 'hex');
    return index;
  }

  #count(piece: Buffer): Buffer {
    this.#sum.update(piece);
    this.#offset += piece.length;
    return piece;
  }
}

/** Maximum offset in the main table. Offsets of 2 GB and more are in a separate table. */
const maxNearOffset = 0x7fffffff;

function writeFanout(index: Buffer, places: readonly Place[]): void {
  let count = 0;
  for (let byte = 0; byte < 256; byte += 1) {
    while (Number.parseInt(places[count]?.id.slice(0, 2) ?? '', 16) <= byte) count += 1;
    index.writeUInt32BE(count, 8 + byte * 4);
  }
}

/** Builds a pack in memory. */
export async function buildPack(objects: readonly PackedObject[]): Promise<Pack> {
  const writer = new PackWriter(objects);
  const pieces: Buffer[] = [];
  for await (const piece of writer.pieces()) pieces.push(piece);
  return { hash: writer.hash, pack: Buffer.concat(pieces), index: writer.index() };
}

/** Lists the hashes of the objects in a pack from its index. */
export function listPacked(index: Buffer): Set<string> {
  const names = 8 + 256 * 4;
  const count = index.readUInt32BE(names - 4);
  const ids = Array.from({ length: count }, (_, at) =>
    index.toString('hex', names + at * idLength, names + (at + 1) * idLength),
  );
  return new Set(ids);
}

interface Packing {
  gitDir: string;
  /** Hashes of the objects to pack. */
  names: Iterable<string>;
  /** Whether all objects that are reachable from these are packed too. */
  isDeep: boolean;
  signal?: AbortSignal;
  environment?: Readonly<Record<string, string>>;
}

const timeoutMs = 30 * minuteMs;

/** Packs objects of a repository into one temporary file. The file and its index exist until `use` has ended. */
export async function packObjects<Result>(
  git: GitProgram,
  { gitDir, names, isDeep, ...run }: Packing,
  use: (file: string) => Promise<Result>,
): Promise<Result> {
  const folder = path.join(git.stagingFolder, `pack-${randomUUID()}`);
  await mkdir(folder, { mode: 0o700 });
  try {
    const args = ['pack-objects', '--quiet', '--delta-base-offset', ...(isDeep ? ['--revs'] : [])];
    const input = [...names].map((name) => `${name}\n`).join('');
    const { stdout } = await runGit(git, [...args, path.join(folder, 'pack')], {
      gitDir,
      input,
      timeoutMs,
      ...run,
    });
    return await use(path.join(folder, `pack-${stdout.toString().trim()}.pack`));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
