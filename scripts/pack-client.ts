// node scripts/run.mjs scripts/pack-client.ts: builds packages/client as plain JavaScript with types, in
// packages/client/dist and as a package beside it. The protocol's package is not published, so both files contain the
// required parts of it.
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { endpoints } from '@phalanx/client/endpoints';
import { build, type PluginBuild } from 'esbuild';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

const Manifest = Compile(
  Type.Object({
    name: Type.String(),
    version: Type.String(),
    license: Type.String(),
    dependencies: Type.Object({ typebox: Type.String() }),
  }),
);

const root = join(import.meta.dirname, '..');
const dist = join(root, 'packages/client/dist');
const TYPES = 'types/packages/client/src/index.d.ts';

rmSync(dist, { recursive: true, force: true });
await build({
  entryPoints: [join(root, 'packages/client/src/index.ts')],
  outfile: join(dist, 'index.js'),
  bundle: true,
  format: 'esm',
  platform: 'neutral',
  // Baseline: Node 20 and browsers of 2023.
  target: 'es2023',
  plugins: [{ name: 'endpoints', setup: setUpEndpoints }],
});
writeTypes();
const own = Manifest.Parse(JSON.parse(readFileSync(join(root, 'packages/client/package.json'), 'utf8')));
const manifest = {
  name: own.name,
  version: own.version,
  description: 'A typed client of Phalanx, which runs TypeScript automations on a fleet of Android phones.',
  license: own.license,
  type: 'module',
  engines: { node: '>=20.3' },
  exports: { '.': { types: `./${TYPES}`, default: './index.js' } },
  // The declarations import typebox; the code does not.
  dependencies: { typebox: own.dependencies.typebox },
};
writeFileSync(join(dist, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
cpSync(join(root, 'LICENSE'), join(dist, 'LICENSE'));
cpSync(join(root, 'docs/client.md'), join(dist, 'README.md'));
execFileSync('npm', ['pack', '--silent', '--pack-destination', dist], { cwd: dist, stdio: 'inherit' });

/** Bundles only the table, without the schemas that it is generated from. */
function setUpEndpoints(esbuild: PluginBuild): void {
  esbuild.onLoad({ filter: /packages\/client\/src\/endpoints\.ts$/ }, () => ({
    contents: `export const endpoints = ${JSON.stringify(endpoints)};`,
    loader: 'js',
  }));
}

/** Writes the types, with the types of the protocol in the same folder by relative paths. */
function writeTypes(): void {
  const flags = ['--noEmit', 'false', '--declaration', '--emitDeclarationOnly', '--rootDir', root];
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const folder = join(dist, 'types');
  for (const workspace of ['packages/protocol', 'packages/client'])
    execFileSync(process.execPath, [tsc, '-p', join(root, workspace), ...flags, '--outDir', folder], {
      stdio: 'inherit',
    });
  for (const path of globSync('**/*.d.ts', { cwd: folder })) {
    const protocol = posix.relative(dirname(path), 'packages/protocol/src/index.js');
    const text = readFileSync(join(folder, path), 'utf8');
    writeFileSync(
      join(folder, path),
      text
        .replaceAll(/(['"])@phalanx\/protocol\1/g, `'${protocol}'`)
        .replaceAll(/(['"])(\.{1,2}\/[^'"]+)\.ts\1/g, `'$2.js'`),
    );
  }
}
