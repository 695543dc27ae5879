import { open } from 'node:fs/promises';

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
