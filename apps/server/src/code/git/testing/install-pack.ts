import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

import type { Pack } from '../pack.ts';

/** Installs a pack in a repository. */
export async function installPack(gitDir: string, { hash, pack, index }: Pack): Promise<string> {
  const folder = path.join(gitDir, 'objects', 'pack');
  await mkdir(folder, { recursive: true });
  const name = path.join(folder, `pack-${hash}`);
  await writeFile(`${name}.pack`, pack);
  await writeFile(`${name}.idx`, index);
  return `${name}.pack`;
}
