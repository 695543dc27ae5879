// node scripts/run.mjs scripts/complete-lock.ts [--check]
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Compile } from 'typebox/compile';
import { findLockGaps, findUnproven, PackageLock } from './lock-gaps.ts';

const path = join(import.meta.dirname, '..', 'package-lock.json');
const lock = Compile(PackageLock).Parse(JSON.parse(readFileSync(path, 'utf8')));
const gaps = findLockGaps(lock.packages);
const names = Object.keys(gaps);

if (process.argv.includes('--check')) {
  const unproven = findUnproven(lock.packages);
  if (unproven.length > 0) {
    console.error(`package-lock.json has no integrity for ${unproven.join(', ')}: install them again.`);
    process.exitCode = 1;
  }
  if (names.length > 0) {
    console.error(
      `package-lock.json lacks ${names.length} packages of other platforms, so npm ci refuses it:`,
    );
    console.error(names.map((name) => `  ${name}`).join('\n'));
    process.exitCode = 1;
  }
} else if (names.length > 0) {
  const sorted = Object.entries({ ...lock.packages, ...gaps }).toSorted(([a], [b]) =>
    a.localeCompare(b, 'en'),
  );
  writeFileSync(path, `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, null, 2)}\n`);
  console.log(`package-lock.json: ${names.length} packages of other platforms added.`);
}
