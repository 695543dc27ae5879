import { build, type OnResolveArgs, type OnResolveResult, type Plugin } from 'esbuild';

import { findImportedPath, findModule, isRelative } from '../import-resolution.ts';
import type { ProjectSettings } from '../project-settings.ts';
import { bundlerErrorLine, isBuildFailure, projectNamespace } from './bundler-errors.ts';
import { emitOptions, emitTarget, loaderOf } from './emit.ts';

export type BundleResult = { ok: true; code: string; sourceMap: string } | { ok: false; errors: string[] };

interface BundleSource {
  paths: ReadonlySet<string>;
  settings: ProjectSettings;
  read: (path: string) => Promise<string | null>;
}

const entryPaths = ['main.ts', 'main.tsx', 'main.mts', 'main.cts', 'main.js', 'main.mjs', 'main.cjs'];
/** Imports the entry for its effects alone, so that what it exports does not stay in the script. */
const wrapperCode = (entry: string): string => `import ${JSON.stringify(`./${entry}`)};`;
const importable = /\.(?:[mc]?[jt]s|[jt]sx|json)$/;

/** One script of all that the entry file imports. */
export async function bundle(source: BundleSource): Promise<BundleResult> {
  const entry = entryPaths.find((path) => source.paths.has(path));
  if (entry === undefined) return failed(['error: the project has no main.ts (or main.js) to start with']);
  try {
    const { outputFiles } = await build({
      entryPoints: ['wrapper'],
      outfile: 'main.js',
      plugins: [projectModules(entry, source)],
      bundle: true,
      write: false,
      format: 'esm',
      target: emitTarget,
      platform: 'neutral',
      treeShaking: false,
      sourcemap: 'external',
      sourcesContent: false,
      define: { 'import.meta': '{}' },
      // A module is strict code; the script that it becomes has to say so.
      banner: { js: '"use strict";' },
      logLevel: 'silent',
      charset: 'utf8',
      tsconfigRaw: emitOptions(source.settings),
    });
    const text = (ending: string): string =>
      outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? '';
    return { ok: true, code: text('.js'), sourceMap: withProjectPaths(text('.js.map')) };
  } catch (error) {
    if (!isBuildFailure(error) || error.errors.length === 0) throw error;
    return failed(error.errors.map((message) => bundlerErrorLine(message, entry)));
  }
}

const failed = (errors: string[]): BundleResult => ({ ok: false, errors });

const projectModules = (entry: string, { paths, read }: BundleSource): Plugin => ({
  name: 'project-modules',
  setup(bundler) {
    bundler.onResolve({ filter: /.*/ }, (found) =>
      found.kind === 'entry-point'
        ? { path: 'wrapper', namespace: 'wrapper' }
        : resolveImport(found, (path) => paths.has(path)),
    );
    bundler.onLoad({ filter: /.*/, namespace: 'wrapper' }, () => ({
      contents: wrapperCode(entry),
      loader: 'js',
    }));
    bundler.onLoad({ filter: /.*/, namespace: projectNamespace }, async ({ path }) => {
      const contents = await read(path);
      return contents === null
        ? { errors: [{ text: 'the file is gone' }] }
        : { contents: asModule(path, contents), loader: loaderOf(path) };
    });
  },
});

/** A source without an import or export would pass for a CommonJS module. */
const asModule = (path: string, contents: string): string =>
  /\.m?tsx?$/.test(path) ? `${contents}\nexport {};` : contents;

function resolveImport(
  { path, importer, namespace }: OnResolveArgs,
  exists: (path: string) => boolean,
): OnResolveResult {
  const quoted = JSON.stringify(path);
  if (!isRelative(path))
    return problem(
      `Cannot import ${quoted}: packages do not exist here, only files of the project can be imported, by relative paths`,
    );
  const target = findImportedPath(namespace === 'wrapper' ? '' : importer, path);
  if (target === undefined) return problem(`Cannot import ${quoted}: it leads out of the project`);
  const file = namespace === 'wrapper' ? target : findModule(target, exists);
  if (file === undefined) return problem(`Cannot import ${quoted}: there is no such file in the project`);
  if (!importable.test(file)) return problem(`Cannot import ${quoted}: only code and JSON can be imported`);
  return { path: file, namespace: projectNamespace };
}

const problem = (text: string): OnResolveResult => ({ errors: [{ text }] });

function withProjectPaths(sourceMap: string): string {
  const map: unknown = JSON.parse(sourceMap);
  if (typeof map !== 'object' || map === null || !('sources' in map) || !Array.isArray(map.sources))
    return sourceMap;
  const sources = map.sources.map((path: unknown) => String(path).replace(`${projectNamespace}:`, ''));
  return JSON.stringify({ ...map, sources });
}
