import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const own = join(import.meta.dirname, '../../node_modules');
const names = ['typebox', 'kysely'];
let root: string;

/** Root with some of the packages as npm installs them. */
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'bundle-packages-'));
  for (const name of names) {
    const folder = join(root, 'node_modules', name);
    cpSync(join(own, name), folder, { recursive: true });
    rmSync(join(folder, 'bundled'), { recursive: true, force: true });
  }
  mkdirSync(join(root, 'node_modules', '@esbuild'), { recursive: true });
  symlinkSync(join(own, 'esbuild'), join(root, 'node_modules', 'esbuild'));
});
afterEach(() => rmSync(root, { recursive: true }));

/** Bundles the packages. Returns the output, and whether they are bundled afterwards. */
function bundle(): { output: string; areBundled: boolean } {
  const script = new URL('bundle-packages.mjs', import.meta.url).href;
  const code = `import { areBundled, bundlePackages } from ${JSON.stringify(script)};
    await bundlePackages(process.argv[1]);
    process.exitCode = areBundled(process.argv[1]) ? 0 : 3;`;
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', code, root]);
  return { output: stderr.toString(), areBundled: status === 0 };
}

const load = async (path: string): Promise<object> => import(pathToFileURL(path).href);
const targetsOf = (name: string): Record<string, { 'module-sync'?: string; default: string }> =>
  JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')).exports;

describe('packages of many modules', () => {
  it.each(names)('are loaded as a few files that export the same: %s', async (name) => {
    expect(bundle()).toEqual({ output: '', areBundled: true });
    const folder = join(root, 'node_modules', name);
    expect(statSync(join(folder, 'bundled')).mode & 0o777).toBe(0o755);
    const entries = Object.values(targetsOf(name)).filter((entry) => entry['module-sync'] !== undefined);
    expect(entries.length).toBeGreaterThan(0);
    for (const { 'module-sync': file = '', default: module } of entries) {
      expect(existsSync(join(folder, file))).toBe(true);
      // Folder whose packages the module can import.
      const place = join(own, name, module);
      const bundled = readFileSync(join(folder, file), 'utf8');
      const exported = /export \{([^}]*)\}/.exec(bundled)?.[1] ?? '';
      const found = exported.split(',').map((one) => one.trim().replace(/^.* as /, ''));
      expect(found.filter((one) => one !== '').toSorted()).toEqual(Object.keys(await load(place)).toSorted());
    }
  });

  it('that are not there, or can not be bundled, are left as they are', () => {
    rmSync(join(root, 'node_modules', 'kysely'), { recursive: true });
    rmSync(join(root, 'node_modules', 'esbuild'));
    const before = readFileSync(join(root, 'node_modules', 'typebox', 'package.json'), 'utf8');
    const { output, areBundled } = bundle();
    expect(output).toContain('typebox is loaded module by module');
    expect(readFileSync(join(root, 'node_modules', 'typebox', 'package.json'), 'utf8')).toBe(before);
    expect(areBundled).toBe(false);
  });
});
