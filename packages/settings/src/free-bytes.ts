import { statfs } from 'node:fs/promises';

/** Returns the free bytes that this user may use on the disk of a folder. */
export async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
