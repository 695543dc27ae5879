import { open } from 'node:fs/promises';

/** Flushes a folder, so that created, renamed and removed names outlive a loss of power. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

type Pieces = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Writes and flushes a new file, whose name is not flushed yet. Returns its size in bytes. */
export async function writeSynced(file: string, pieces: Pieces): Promise<number> {
  const handle = await open(file, 'wx', 0o600);
  try {
    let sizeBytes = 0;
    for await (const piece of pieces) {
      await handle.writeFile(piece);
      sizeBytes += piece.byteLength;
    }
    await handle.sync();
    return sizeBytes;
  } finally {
    await handle.close();
  }
}
