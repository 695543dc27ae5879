import { chmodSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';

// Packages of many small ES modules, which a single import loads completely: the 680 modules of typebox take each
// process a third of a second, one file a tenth of that.
const PACKAGES = ['typebox', 'kysely'];
const FOLDER = 'bundled';

const folderOf = (root, name) => join(root, 'node_modules', name);

/** Whether all installed ones of these packages are loaded as a few files. */
export function areBundled(root) {
  return PACKAGES.every((name) => {
    const folder = folderOf(root, name);
    return !existsSync(folder) || existsSync(join(folder, FOLDER));
  });
}

/**
 * Makes Node load these packages as a few files. Types, browsers and other bundlers still use the modules. A package
 * that can't be bundled stays unchanged and still works.
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
      // Error messages contain names of classes and functions.
      keepNames: true,
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'neutral',
      packages: 'external',
      target: 'node18',
      logLevel: 'silent',
    });
    // Readable for services that run as another user than the one who installed them.
    chmodSync(temporary, 0o755);
    renameSync(temporary, join(folder, FOLDER));
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    throw error;
  }
  const bundled = Object.fromEntries(
    Object.entries(exported).map(([path, value]) => [path, withBundle(folder, value)]),
  );
  // Written last and atomically: a process sees either the entire bundle or nothing of it.
  writeFileSync(`${manifestPath}.new`, `${JSON.stringify({ ...manifest, exports: bundled }, null, 2)}\n`);
  renameSync(`${manifestPath}.new`, manifestPath);
}

/** Returns the ES module of an entry of `exports`; undefined for other entries, such as patterns. */
function entryOf(value) {
  const path = typeof value === 'string' ? value : (value.import ?? value.default);
  if (path !== null && typeof path === 'object') return entryOf(path);
  return typeof path === 'string' && /\.m?js$/.test(path) && !path.includes('*') ? path : undefined;
}

// Adds the bundle under a condition that Node supports and bundlers do not: bundlers remove unused modules.
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
