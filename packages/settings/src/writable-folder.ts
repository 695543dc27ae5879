import { mkdir, open, rm } from 'node:fs/promises';
import path from 'node:path';

/** Writes so much to a file in `folder`, down to the disk, and deletes it. */
export async function tryWrite(folder: string, sizeBytes: number): Promise<void> {
  const file = path.join(folder, '.probe');
  try {
    const handle = await open(file, 'w', 0o600);
    try {
      await handle.writeFile(Buffer.alloc(sizeBytes));
      await handle.sync();
    } finally {
      await handle.close();
    }
  } finally {
    await rm(file, { force: true });
  }
}

/** Makes the folder unless it is there. Throws what the system says when nothing can be written there. */
export async function prepareFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await tryWrite(folder, 4096);
}
