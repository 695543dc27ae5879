import { readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SettingError } from '@phalanx/settings';

import { isLanguageLibrary } from '../checking-options.ts';
import type { ReadLibrary } from './virtual-files.ts';

/** The checker's interface is another one in the next minor version. */
const knownVersion = '7.0.';

/** Throws a `SettingError` when the checker that is installed is not the one that this code was written for. */
export function requireKnownChecker(): void {
  const path = fileURLToPath(import.meta.resolve('typescript/package.json'));
  const version = /"version": "([^"]+)"/.exec(readFileSync(path, 'utf8'))?.[1] ?? 'none';
  if (version.startsWith(knownVersion)) return;
  throw new SettingError(
    `Phalanx needs the package typescript ${knownVersion}x, but ${version} is installed: install Phalanx anew, or run "npm ci" in its folder.`,
  );
}

/** The folder of the checker's own package, where its libraries lie. */
export function findLibraryFolder(): string {
  const typescript = createRequire(fileURLToPath(import.meta.resolve('typescript/package.json')));
  const name = `@typescript/typescript-${process.platform}-${process.arch}/package.json`;
  return realpathSync(join(dirname(typescript.resolve(name)), 'lib'));
}

/** Reads `lib.es*.d.ts` from that folder, and nothing else of the disk. */
export function createLibraryReader(folder: string): ReadLibrary {
  const texts = new Map<string, string>();
  return (absolutePath) => {
    const name = /^lib\.(.+)\.d\.ts$/.exec(basename(absolutePath))?.[1];
    if (name === undefined || !isLanguageLibrary(name) || dirname(absolutePath) !== folder) return undefined;
    const text = texts.get(name) ?? readFileSync(absolutePath, 'utf8');
    texts.set(name, text);
    return text;
  };
}
