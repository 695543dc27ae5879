// Runs before `npm pack`: writes the files of an installed `phalanx` to dist/. Node strips no types below
// node_modules.
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { prepareConsole } from '@phalanx/console';
import { packModule } from './pack-module.ts';
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

rmSync(dist, { recursive: true, force: true });
for (const path of modules) {
  const stripped = stripTypeScriptTypes(readFileSync(join(root, path), 'utf8'));
  const { code, loads } = packModule(path, stripped, { root, workspaces });
  for (const loaded of loads) modules.add(loaded);
  write(path.replace(/\.ts$/, '.js'), code);
}
for (const path of globSync(DATA, { cwd: root }))
  cpSync(join(root, path), join(dist, path), { recursive: true });
// Path at which an installed program looks for the console.
cpSync(await prepareConsole(), join(dist, 'apps/console/dist/packed'), { recursive: true });
console.error(`dist: ${modules.size} modules and the console`);

function write(path: string, text: string): void {
  mkdirSync(dirname(join(dist, path)), { recursive: true });
  writeFileSync(join(dist, path), text);
}
