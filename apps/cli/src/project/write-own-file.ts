import { randomUUID } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { makeFolders, ownFolder } from './local-path.ts';

/** Writes a file below `root` whole or not at all, and through no symbolic link. */
export async function writeBelow(root: string, file: string, content: string | Uint8Array): Promise<void> {
  const fresh = `${ownFolder}/incoming-${randomUUID()}`;
  await makeFolders(root, fresh);
  await makeFolders(root, file);
  await writeFile(path.join(root, fresh), content, { flag: 'wx' });
  await rename(path.join(root, fresh), path.join(root, file));
}
