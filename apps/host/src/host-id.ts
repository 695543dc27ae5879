import { randomUUID } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const pattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The host's own ID: made at the first start and kept in `dir`. */
export async function loadHostId(dir: string): Promise<string> {
  const path = join(dir, 'host-id');
  const kept = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  if (pattern.test(kept.trim())) return kept.trim();
  const made = randomUUID();
  // Written beside and renamed, so that a crash leaves no half of it.
  await writeFile(`${path}.tmp`, `${made}\n`, { flush: true });
  await rename(`${path}.tmp`, path);
  return made;
}
