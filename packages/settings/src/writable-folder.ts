import { chmod, mkdir, open, rm, stat } from 'node:fs/promises';
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

/**
 * Makes the folder unless it is there. From here on, what this process and its children write is for its user alone.
 * Throws what the system says when nothing can be written there.
 */
export async function prepareFolder(folder: string): Promise<void> {
  process.umask(0o077);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await closeToOthers(folder);
  await tryWrite(folder, 4096);
}

/** A folder with this bit is everybody's, such as /tmp. */
const sticky = 0o1000;

/** A folder that was there before may be open to all users of the machine, and with it what is written below. */
async function closeToOthers(folder: string): Promise<void> {
  const { mode, uid } = await stat(folder);
  const isOurs = uid === process.getuid?.() && (mode & sticky) === 0;
  if (isOurs && (mode & 0o077) !== 0) await chmod(folder, 0o700);
}
