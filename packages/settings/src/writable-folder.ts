import { mkdirSync, statSync } from 'node:fs';
import { chmod, open, rm, stat } from 'node:fs/promises';
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

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;

/**
 * Makes the folder and those above it, unless they are there. Throws what the system says when it refuses. Node's own
 * `recursive` never ends below `/proc`, where the system says of each folder that one above it is missing.
 */
export function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST' && statSync(folder).isDirectory()) return;
    const above = path.dirname(path.resolve(folder));
    if (code !== 'ENOENT' || statSync(above, { throwIfNoEntry: false }) !== undefined) throw error;
    makeFolder(above);
    mkdirSync(folder, { mode: 0o700 });
  }
}

/**
 * Makes the folder unless it is there. From here on, what this process and its children write is for its user alone.
 * Throws what the system says when nothing can be written there.
 */
export async function prepareFolder(folder: string): Promise<void> {
  process.umask(0o077);
  makeFolder(folder);
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
