import { open } from 'node:fs/promises';

/** Makes the names in a folder outlive a loss of power: what was created, renamed or removed there. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

type Pieces = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Writes a new file that outlives a loss of power; its name does not yet. Returns how many bytes there were. */
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
