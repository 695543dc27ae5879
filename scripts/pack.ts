// Runs before `npm pack`: writes the files of an installed `phalanx` to dist/. Node strips no types below
// node_modules.
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prepareConsole } from '@phalanx/console';
import { build } from 'esbuild';
import { bundles, packModule } from './pack-module.ts';
import { Workspaces } from './workspaces.ts';

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
/** Files that the programs read at run time without importing them. */
const DATA = [
  'package.json',
  'docs/*.md',
  'docs/automation/*.md',
  'packages/automation/src/types/*.d.ts',
  'packages/automation/starter/*',
  'packages/confinement/native/confine-linux-*',
  'apps/host/helper/phalanx-helper.dex',
  'apps/cli/samples/**/*',
];

const workspaces = new Workspaces(root);
/** Modules to pack; the loop adds those that each module loads. */
const modules = new Set(['apps/cli/src/main.ts']);
const packages = new Set<string>();

rmSync(dist, { recursive: true, force: true });
for (const path of modules) {
  const stripped = stripTypeScriptTypes(readFileSync(join(root, path), 'utf8'));
  const { code, loads, imports } = packModule(path, stripped, { root, workspaces });
  for (const loaded of loads) modules.add(loaded);
  for (const name of imports) packages.add(name);
  write(path.replace(/\.ts$/, '.js'), code);
}
await bundlePackages();
for (const path of globSync(DATA, { cwd: root }))
  cpSync(join(root, path), join(dist, path), { recursive: true });
// Path at which an installed program looks for the console.
cpSync(await prepareConsole(), join(dist, 'apps/console/dist/packed'), { recursive: true });
console.error(`dist: ${modules.size} modules and the console`);

/** Bundles the packages into a file for each name by which they are imported, and files that those share. */
async function bundlePackages(): Promise<void> {
  const entries = [...packages].map((name) => [name, fileURLToPath(import.meta.resolve(name))]);
  await build({
    entryPoints: Object.fromEntries(entries),
    outdir: join(dist, bundles),
    // Error messages contain names of classes and functions.
    keepNames: true,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
  });
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(dist, path)), { recursive: true });
  writeFileSync(join(dist, path), text);
}
