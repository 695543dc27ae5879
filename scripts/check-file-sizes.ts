import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { listSourceFiles } from './source-files.ts';

/**
 * Number of lines above which a file probably covers several concepts. Only a warning, because the fix requires
 * thought rather than a mechanical split.
 */
const MAX_LINES = 300;

const root = join(import.meta.dirname, '..');

for (const path of listSourceFiles(root)) {
  if (/\.test\.tsx?$/.test(path) || path.startsWith('tests/')) continue;
  const lineCount = readFileSync(join(root, path), 'utf8').trimEnd().split('\n').length;
  if (lineCount > MAX_LINES)
    console.log(`${path}: ${lineCount} lines; over ${MAX_LINES} is a second concept`);
}
