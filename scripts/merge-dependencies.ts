// node scripts/run.mjs scripts/merge-dependencies.ts [--check]
// Merges the dependencies of the workspaces' programs into the root, because one package is installed.
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

const Names = Type.Optional(Type.Record(Type.String(), Type.String()));
const Manifest = Compile(Type.Object({ dependencies: Names, devDependencies: Names }));

const root = join(import.meta.dirname, '..');
const read = (path: string) => Manifest.Parse(JSON.parse(readFileSync(join(root, path), 'utf8')));

const merged = new Map<string, string>();
for (const path of globSync('{packages,apps}/*/package.json', { cwd: root }).toSorted())
  for (const [name, range] of Object.entries(read(path).dependencies ?? {}))
    if (!name.startsWith('@phalanx/')) merged.set(name, range);

const manifest = read('package.json');
const dependencies = Object.fromEntries([...merged].toSorted(([one], [other]) => (one < other ? -1 : 1)));
const tools = Object.entries(manifest.devDependencies ?? {}).filter(([name]) => !merged.has(name));
const wanted = { ...manifest, dependencies, devDependencies: Object.fromEntries(tools) };
const text = `${JSON.stringify(wanted, null, 2)}\n`;

if (text === readFileSync(join(root, 'package.json'), 'utf8')) process.exit(0);
if (process.argv.includes('--check')) {
  console.error('"dependencies" of the root\'s package.json are not those of the workspaces.');
  process.exitCode = 1;
} else {
  writeFileSync(join(root, 'package.json'), text);
  console.log('package.json: written. Next: npm install --package-lock-only');
}
