import { randomUUID } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const pattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Returns the ID of this host, which the first start generates and stores in `dir`. It is a file of its own, so that it
 * outlives a damaged database.
 */
export async function loadHostId(dir: string): Promise<string> {
  const path = join(dir, 'host-id');
  const kept = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  if (pattern.test(kept.trim())) return kept.trim();
  const made = randomUUID();
  // A crash must not leave a part of an ID.
  await writeFile(`${path}.tmp`, `${made}\n`, { flush: true });
  await rename(`${path}.tmp`, path);
  return made;
}
