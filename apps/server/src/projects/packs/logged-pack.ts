import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';

import type { NewObjects } from '../../git/draft.ts';
import { buildPack, PackWriter, type Pack } from '../../git/pack.ts';
import { type LargePacks, maxRowBytes, piecesOf } from './large-packs.ts';
import type { LoggedPack } from './pack-log-store.ts';

/** More than that is not held in memory to be packed. */
const maxInMemoryBytes = 1024 * 1024;

const inRow = ({ hash, pack, index }: Pack): LoggedPack => ({
  hash,
  size_bytes: pack.length,
  large_key: null,
  pack,
  pack_index: index,
});

/** The pack of new objects, in the store when it is large; undefined when there are none. */
export async function packOfObjects(
  large: LargePacks,
  projectId: string,
  objects: NewObjects,
): Promise<LoggedPack | undefined> {
  const list = objects.list();
  if (list.length === 0) return undefined;
  if (list.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) > maxInMemoryBytes) {
    const writer = new PackWriter(list);
    return putLarge(large, projectId, {
      pieces: writer.pieces(),
      index: () => ({ hash: writer.hash, index: writer.index() }),
    });
  }
  const built = await buildPack(list);
  if (built.pack.length <= maxRowBytes) return inRow(built);
  return putLarge(large, projectId, { pieces: [built.pack], index: () => built });
}

/** A pack that git has written, with the index beside it; they are copied. */
export async function packOfFile(large: LargePacks, projectId: string, file: string): Promise<LoggedPack> {
  const hash = /^pack-([0-9a-f]{40})\.pack$/.exec(path.basename(file))?.[1];
  if (hash === undefined) throw new Error(`${file} has not the name of a pack`);
  const index = await readFile(indexOf(file));
  if ((await stat(file)).size <= maxRowBytes) return inRow({ hash, pack: await readFile(file), index });
  return putLarge(large, projectId, { pieces: piecesOf(file), index: () => ({ hash, index }) });
}

export const indexOf = (packFile: string): string => packFile.replace(/\.pack$/, '.idx');

async function putLarge(
  large: LargePacks,
  projectId: string,
  {
    pieces,
    index,
  }: { pieces: AsyncIterable<Buffer> | Buffer[]; index: () => { hash: string; index: Buffer } },
): Promise<LoggedPack> {
  const { hash, sizeBytes, key } = await large.put(projectId, pieces, index);
  return { hash, size_bytes: sizeBytes, large_key: key, pack: null, pack_index: null };
}
