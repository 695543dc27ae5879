import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { SettingError } from '@phalanx/settings';

/** Matches the only supported version. The API that the checker uses changes with each minor release. */
const needed = /"version": "7\.0\./;

/** Throws a `SettingError` when an installation without our lock file has another version of TypeScript. */
export function requireTypeScript(
  packageFile: string = createRequire(import.meta.url).resolve('typescript/package.json'),
): void {
  const text = readFileSync(packageFile, 'utf8');
  if (needed.test(text)) return;
  const found = /"version": "([^"]*)"/.exec(text)?.[1] ?? 'of an unknown version';
  throw new SettingError(
    `typescript ${found} is installed, but this release needs 7.0: run "npm install typescript@~7.0.2" where Phalanx is installed.`,
  );
}
