import { chmodSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';

// Packages of many small ES modules, all of which are loaded by whoever imports one thing: 680 of typebox take each
// process a third of a second, one file a tenth of that.
const PACKAGES = ['typebox', 'kysely'];
const FOLDER = 'bundled';

const folderOf = (root, name) => join(root, 'node_modules', name);

/** Whether each of these packages that is there is loaded as a few files. */
export function areBundled(root) {
  return PACKAGES.every((name) => {
    const folder = folderOf(root, name);
    return !existsSync(folder) || existsSync(join(folder, FOLDER));
  });
}

/**
 * Has Node load these packages as a few files. Types, browsers and other bundlers go on with the modules. A package that
 * can't be bundled stays as it is: it works all the same.
 */
export async function bundlePackages(root) {
  for (const name of PACKAGES) {
    const folder = folderOf(root, name);
    if (!existsSync(folder) || existsSync(join(folder, FOLDER))) continue;
    try {
      await bundlePackage(root, folder);
    } catch (error) {
      console.error(`phalanx: ${name} is loaded module by module: ${error.message}`);
    }
  }
}

async function bundlePackage(root, folder) {
  const { build } = await import(pathToFileURL(join(folderOf(root, 'esbuild'), 'lib', 'main.js')).href);
  const manifestPath = join(folder, 'package.json');
  const manifest = JSON.parse(readFileSync(manifestPath, 'utf8'));
  const { exports: exported } = manifest;
  const entries = Object.values(exported)
    .map(entryOf)
    .filter((path) => path !== undefined);
  const temporary = mkdtempSync(join(folder, `.${FOLDER}-`));
  try {
    await build({
      entryPoints: entries.map((path) => join(folder, path)),
      outdir: temporary,
      outbase: folder,
      outExtension: { '.js': '.mjs' },
      chunkNames: 'shared-[hash]',
      // Names of classes and functions are in messages.
      keepNames: true,
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'neutral',
      packages: 'external',
      target: 'node18',
      logLevel: 'silent',
    });
    // For services that run as another user than whoever installed them.
    chmodSync(temporary, 0o755);
    renameSync(temporary, join(folder, FOLDER));
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    throw error;
  }
  const bundled = Object.fromEntries(
    Object.entries(exported).map(([path, value]) => [path, withBundle(folder, value)]),
  );
  // Last and at once: a process sees either all of the bundle or nothing of it.
  writeFileSync(`${manifestPath}.new`, `${JSON.stringify({ ...manifest, exports: bundled }, null, 2)}\n`);
  renameSync(`${manifestPath}.new`, manifestPath);
}

/** The ES module of an entry of `exports`; undefined for what is none, such as a pattern. */
function entryOf(value) {
  const path = typeof value === 'string' ? value : (value.import ?? value.default);
  if (path !== null && typeof path === 'object') return entryOf(path);
  return typeof path === 'string' && /\.m?js$/.test(path) && !path.includes('*') ? path : undefined;
}

// A condition that Node has, and no bundler: those leave out what is not used, of modules.
function withBundle(folder, value) {
  const entry = entryOf(value);
  if (entry === undefined) return value;
  const types = entry.replace(/\.(m?)js$/, '.d.$1ts');
  const bundled = `./${FOLDER}/${relative('.', entry).replace(/\.m?js$/, '.mjs')}`;
  const conditions = typeof value === 'string' ? { default: value } : value;
  const own = Object.keys(conditions).filter((key) => key.startsWith('types'));
  return {
    ...Object.fromEntries(own.map((key) => [key, conditions[key]])),
    ...(existsSync(join(folder, types)) ? { types } : {}),
    'module-sync': bundled,
    ...conditions,
  };
}
