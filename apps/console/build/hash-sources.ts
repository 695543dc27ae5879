import { createHash } from 'node:crypto';
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** What the built files depend on, from the root of the repository. */
const sources = [
  'apps/console/{src,build}/**/*',
  'apps/console/{index.html,vite.config.ts,package.json}',
  'packages/{protocol,automation}/src/**/*.ts',
  'packages/automation/starter/*',
  'package-lock.json',
];

/** A name for the built files: another one when a source has changed. */
export async function hashSources(workspace: string): Promise<string> {
  const root = path.join(workspace, '..', '..');
  const hash = createHash('sha256').update(process.version);
  const found = globSync(sources, { cwd: root, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = found.map((entry) => path.join(entry.parentPath, entry.name)).toSorted();
  for (const file of files) hash.update(path.relative(root, file)).update(await readFile(file));
  return hash.digest('hex').slice(0, 16);
}
