import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';

import { Type, type Static } from 'typebox';
import { Compile } from 'typebox/compile';

import { entrySeparator } from '../log-batch.ts';

const pack = promisify(zstdCompress);
const unpack = promisify(zstdDecompress);

const ChunkHeader = Type.Object({
  /** Number of its first entry among those that were kept of the run, from 1: a gap shows what was left out later. */
  first: Type.Integer(),
  count: Type.Integer(),
  first_id: Type.String(),
  last_id: Type.String(),
  /** The host's number of the last entry of the run that is here or in an earlier chunk; what it sends again is known by it. */
  seq: Type.Integer(),
  /** Of the packed entries that follow. */
  size_bytes: Type.Integer({ minimum: 0 }),
});
export type ChunkHeader = Static<typeof ChunkHeader>;
const header = Compile(ChunkHeader);

/** Some entries of a run as they are kept: the header, and the entries, compressed. */
export interface KeptChunk {
  header: ChunkHeader;
  packed: Buffer;
}

/** Entries of a run on their way to be kept. */
export type NewChunk = Omit<ChunkHeader, 'first' | 'size_bytes'> & {
  /** The JSON of each entry, joined by `entrySeparator`. */
  entries: Buffer;
};

const lineFeed = 0x0a;

export async function encodeChunk({ entries, ...about }: NewChunk, first: number): Promise<KeptChunk> {
  const packed = await pack(entries);
  return { header: { first, ...about, size_bytes: packed.length }, packed };
}

/** As it stands in a file: a line with the header before the entries. */
export const bytesOf = ({ header: about, packed }: KeptChunk): Buffer =>
  Buffer.concat([Buffer.from(`${JSON.stringify(about)}\n`), packed]);

/** The JSON of each entry. */
export async function entriesIn({ packed }: KeptChunk): Promise<string[]> {
  return (await unpack(packed)).toString().split(entrySeparator);
}

/** The chunks of a file up to the first that is not whole, such as one whose writing was cut off. */
export function chunksIn(file: Buffer): { chunks: KeptChunk[]; wholeBytes: number } {
  const chunks: KeptChunk[] = [];
  let wholeBytes = 0;
  for (let chunk = chunkAt(file, 0); chunk !== undefined; chunk = chunkAt(file, wholeBytes)) {
    chunks.push(chunk);
    wholeBytes = chunk.packed.byteOffset - file.byteOffset + chunk.packed.length;
  }
  return { chunks, wholeBytes };
}

function chunkAt(file: Buffer, start: number): KeptChunk | undefined {
  const end = file.indexOf(lineFeed, start);
  const about = end === -1 ? undefined : parseHeader(file.toString('utf8', start, end));
  if (about === undefined || end + 1 + about.size_bytes > file.length) return undefined;
  return { header: about, packed: file.subarray(end + 1, end + 1 + about.size_bytes) };
}

/** Undefined when it is none. */
export function parseHeader(text: string): ChunkHeader | undefined {
  try {
    const about: unknown = JSON.parse(text);
    return header.Check(about) ? about : undefined;
  } catch {
    return undefined;
  }
}
