import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';

const pack = promisify(zstdCompress);
const unpack = promisify(zstdDecompress);

/** Some entries of a run as they are kept. */
export interface KeptChunk {
  /** Number of its first entry among those that were kept of the run, from 1: a gap shows what was left out later. */
  first: number;
  count: number;
  /** ID of its last entry. */
  last_id: string;
  /** The entries, compressed. */
  packed: Buffer;
}

/** Entries of a run on their way to be kept. */
export type NewChunk = Pick<KeptChunk, 'count' | 'last_id'> & {
  /** The JSON of each entry, joined by `entrySeparator`. */
  entries: Buffer;
};

export async function packChunk({ entries, ...about }: NewChunk, first: number): Promise<KeptChunk> {
  return { first, ...about, packed: await pack(entries) };
}

/** The JSON of each entry, joined by `entrySeparator`. */
export async function textIn({ packed }: KeptChunk): Promise<string> {
  return (await unpack(packed)).toString();
}
