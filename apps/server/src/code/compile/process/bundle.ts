import { build, type OnResolveArgs, type OnResolveResult, type Plugin } from 'esbuild';

import { hintOfModule } from '@phalanx/automation/name-hints';
import { errorLine } from '../error-lines.ts';
import { findImportedPath, findModule, isRelative } from '../source-paths.ts';
import type { ProjectSettings } from '../project-settings.ts';
import {
  bundlerErrorLine,
  codes,
  commonOptions,
  isBuildFailure,
  loaderOf,
  projectNamespace,
} from './emit.ts';
import type { BundleKind } from './messages.ts';
import { foreignText } from './plain-words.ts';

export type BundleResult = { ok: true; code: string; sourceMap: string } | { ok: false; errors: string[] };

export interface BundleSource {
  of: BundleKind;
  paths: ReadonlySet<string>;
  settings: ProjectSettings;
  read: (path: string) => Promise<string | null>;
  /**
   * Entry code, whose imports all resolve to the file at `path`. Default: code that imports `main.ts` (or `main.js`).
   */
  start?: { path: string; code: string };
}

const entryPaths = ['main.ts', 'main.tsx', 'main.mts', 'main.cts', 'main.js', 'main.mjs', 'main.cjs'];
/** Imports the entry for its side effects only, so that the script does not keep its exports. */
const wrapperCode = (entry: string): string => `import ${JSON.stringify(`./${entry}`)};`;
const importable = /\.(?:[mc]?[jt]s|[jt]sx|json)$/;

/**
 * Settings for direct code. They keep unused imports, which esbuild would otherwise drop like type imports, because
 * direct code must not import anything and every import has to be reported.
 */
const directSettings: ProjectSettings = { options: { verbatimModuleSyntax: true } };

/** Bundles the entry file and everything that it imports into one script. */
export async function bundle(source: BundleSource): Promise<BundleResult> {
  const entry = source.start?.path ?? entryPaths.find((path) => source.paths.has(path));
  if (entry === undefined)
    return failed([
      errorLine('main.ts', undefined, codes.noFile, 'The project has no main.ts (or main.js) to start with'),
    ]);
  try {
    const { outputFiles } = await build({
      ...commonOptions(source.of === 'project' ? source.settings : directSettings),
      stdin: { contents: source.start?.code ?? wrapperCode(entry), loader: 'js' },
      outfile: 'main.js',
      plugins: [modules(entry, source)],
      bundle: true,
      write: false,
      format: 'esm',
      platform: 'neutral',
      treeShaking: false,
      sourcemap: 'external',
      define: { 'import.meta': '{}' },
      // Makes the script strict, because modules are strict code.
      banner: { js: '"use strict";' },
    });
    const text = (ending: string): string =>
      outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? '';
    return { ok: true, code: withoutRequire(text('.js')), sourceMap: withProjectPaths(text('.js.map')) };
  } catch (error) {
    if (!isBuildFailure(error) || error.errors.length === 0) throw error;
    return failed(error.errors.map((message) => bundlerErrorLine(message, entry)));
  }
}

const failed = (errors: string[]): BundleResult => ({ ok: false, errors });

const modules = (entry: string, source: BundleSource): Plugin => ({
  name: 'modules',
  setup(bundler) {
    bundler.onResolve({ filter: /.*/ }, (found) => {
      if (found.namespace !== projectNamespace) return { path: entry, namespace: projectNamespace };
      return source.of === 'project'
        ? resolveImport(found, (path) => source.paths.has(path))
        : problem(directText(found.path));
    });
    bundler.onLoad({ filter: /.*/, namespace: projectNamespace }, async ({ path }) => {
      const contents = await source.read(path);
      return contents === null
        ? { errors: [{ text: 'the file is gone' }] }
        : { contents: asModule(path, contents), loader: loaderOf(path) };
    });
  },
});

function directText(specifier: string): string {
  const hint = hintOfModule(specifier);
  const instead = hint === undefined ? '' : `; ${hint}`;
  return `Cannot import ${JSON.stringify(specifier)}: direct code cannot import anything${instead}`;
}

/** Adds an export to a source, because without import or export it would count as a CommonJS module. */
const asModule = (path: string, contents: string): string =>
  /\.m?tsx?$/.test(path) ? `${contents}\nexport {};` : contents;

function resolveImport(
  { path, importer }: OnResolveArgs,
  exists: (path: string) => boolean,
): OnResolveResult {
  const quoted = JSON.stringify(path);
  if (!isRelative(path)) return problem(`Cannot import ${quoted}: ${foreignText(path)}`);
  const target = findImportedPath(importer, path);
  if (target === undefined) return problem(`Cannot import ${quoted}: the path is outside the project`);
  const file = findModule(target, exists);
  if (file === undefined) return problem(`Cannot import ${quoted}: there is no such file in the project`);
  if (!importable.test(file)) return problem(`Cannot import ${quoted}: only code and JSON can be imported`);
  return { path: file, namespace: projectNamespace };
}

const problem = (text: string): OnResolveResult => ({ errors: [{ text, detail: codes.noModule }] });

/**
 * Blanks the bundler's `require` shim, because the sandbox has no `require`. Keeps the shim's line breaks, so that the
 * lines below do not move.
 */
const withoutRequire = (code: string): string =>
  code.replace(/^var __require = \/\* @__PURE__ \*\/[^]*?^\}\);$/m, (shim) => shim.replace(/[^\n]/g, ''));

function withProjectPaths(sourceMap: string): string {
  const map: unknown = JSON.parse(sourceMap);
  if (typeof map !== 'object' || map === null || !('sources' in map) || !Array.isArray(map.sources))
    return sourceMap;
  const sources = map.sources.map((path: unknown) => String(path).replace(`${projectNamespace}:`, ''));
  return JSON.stringify({ ...map, sources });
}
