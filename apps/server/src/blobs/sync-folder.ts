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
