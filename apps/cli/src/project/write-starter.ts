import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { findKind, isBehindLink } from './local-path.ts';
import { writeBelow } from './write-own-file.ts';

const starter = fileURLToPath(new URL('../../../../packages/automation/starter/', import.meta.url));

/** npm packs no file of the name `.gitignore`, and a `tsconfig.json` would be taken for one of this repository. */
const places: Readonly<Record<string, string>> = { gitignore: '.gitignore', tsconfig: 'tsconfig.json' };
const placeOf = (name: string): string => places[name] ?? name;

/**
 * Writes what a new project begins with: code that runs on any phone, its parameters, and how to work on it. A file
 * that is there stays. Returns the paths that it wrote.
 */
export async function writeStarter(root: string): Promise<string[]> {
  const hasCode = (await readdir(root)).some((name) => /^main\.[cm]?[jt]sx?$/.test(name));
  const names = (await listStarter()).filter(
    (name) => !hasCode || !/^(?:main\.|parameters\.|screens\/|tsconfig$)/.test(name),
  );
  const written: string[] = [];
  for (const name of names) {
    const place = placeOf(name);
    if ((await isBehindLink(root, place)) || (await findKind(path.join(root, place))) !== undefined) continue;
    await writeBelow(root, place, await readFile(path.join(starter, name)));
    written.push(place);
  }
  return written;
}

async function listStarter(): Promise<string[]> {
  const found = await readdir(starter, { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) =>
    path.relative(starter, path.join(parentPath, name)).replaceAll('\\', '/'),
  );
}
