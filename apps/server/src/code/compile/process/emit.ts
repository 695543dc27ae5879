import { posix } from 'node:path';

import {
  build,
  transform,
  type BuildFailure,
  type Loader,
  type Message,
  type Plugin,
  type TsconfigRaw,
} from 'esbuild';

import { errorLine } from '../error-lines.ts';
import { isRelative } from '../source-paths.ts';
import type { ProjectSettings } from '../project-settings.ts';

/** Error numbers of the checker for errors that the bundler reports without a number. */
export const codes = { syntax: 1005, noModule: 2307, noFile: 6053 };

/** Namespace that esbuild puts before the names of the user's files. */
export const projectNamespace = 'project';

export const isBuildFailure = (error: unknown): error is BuildFailure =>
  error instanceof Error && 'errors' in error && Array.isArray(error.errors);

/**
 * Formats a message of esbuild as an error line. Converts columns from bytes to UTF-16 units. `fallbackPath` is for a
 * message without a place, `knownPath` for a file that esbuild does not know by its path in the project.
 */
export function bundlerErrorLine(
  { location, text, detail }: Message,
  fallbackPath: string,
  knownPath?: string,
): string {
  const code = typeof detail === 'number' ? detail : codes.syntax;
  if (location === null) return errorLine(fallbackPath, undefined, code, text);
  const before = Buffer.from(location.lineText).subarray(0, location.column).toString();
  const path = knownPath ?? location.file.replace(`${projectNamespace}:`, '');
  return errorLine(path, { line: location.line, column: before.length + 1 }, code, text);
}

export type EmitResult = { ok: true; js: string } | { ok: false; errors: string[] };

/** Language version that the sandbox's V8 runs unchanged. Newer syntax, such as decorators, is rewritten. */
const emitTarget = 'es2024';

const sourceEnding = /(\.[mc]?)tsx?$/;
/**
 * Matches an import that may name a source with its extension. The emitted code must name the compiled file instead.
 */
const namesSource = /\.[mc]?tsx?['"`]/;

export function loaderOf(path: string): Loader {
  if (path.endsWith('.json')) return 'json';
  if (/\.[mc]?js$/.test(path)) return 'js';
  if (path.endsWith('.jsx')) return 'jsx';
  return path.endsWith('.tsx') ? 'tsx' : 'ts';
}

/** Returns the project's options that change the emitted code. */
function emitOptions({ options }: ProjectSettings): TsconfigRaw {
  const { experimentalDecorators, useDefineForClassFields, verbatimModuleSyntax } = options;
  const { jsxFactory, jsxFragmentFactory } = options;
  return {
    compilerOptions: {
      experimentalDecorators: experimentalDecorators === true,
      useDefineForClassFields: useDefineForClassFields !== false,
      verbatimModuleSyntax: verbatimModuleSyntax === true,
      jsx: 'react',
      ...(typeof jsxFactory === 'string' ? { jsxFactory } : {}),
      ...(typeof jsxFragmentFactory === 'string' ? { jsxFragmentFactory } : {}),
    },
  };
}

/** Emits the JavaScript of one source with an inline source map. The map names the source as a sibling file. */
export async function emit(path: string, content: string, settings: ProjectSettings): Promise<EmitResult> {
  const source: Source = { name: posix.basename(path), content, loader: loaderOf(path) };
  try {
    const emitSource = namesSource.test(content) ? emitRenaming : emitPlainly;
    return { ok: true, js: await emitSource(source, commonOptions(settings)) };
  } catch (error) {
    if (!isBuildFailure(error) || error.errors.length === 0) throw error;
    return { ok: false, errors: error.errors.map((message) => bundlerErrorLine(message, path, path)) };
  }
}

/** Lists the syntax errors in a JavaScript, JSX or JSON file. Returns an empty list for other files. */
export async function listPlainMistakes(path: string, content: string): Promise<string[]> {
  if (!/\.(?:[mc]?js|jsx|json)$/.test(path)) return [];
  try {
    await transform(content, { loader: loaderOf(path), logLevel: 'silent' });
    return [];
  } catch (error) {
    if (!isBuildFailure(error) || error.errors.length === 0) throw error;
    return error.errors.map((message) => bundlerErrorLine(message, path, path));
  }
}

interface Source {
  name: string;
  content: string;
  loader: Loader;
}

/** Options of esbuild for everything that is emitted. */
export const commonOptions = (settings: ProjectSettings) =>
  ({
    target: emitTarget,
    sourcemap: 'inline',
    sourcesContent: false,
    charset: 'utf8',
    logLevel: 'silent',
    tsconfigRaw: emitOptions(settings),
  }) as const;

type CommonOptions = ReturnType<typeof commonOptions>;

async function emitPlainly({ name, content, loader }: Source, options: CommonOptions): Promise<string> {
  const { code } = await transform(content, { ...options, sourcefile: name, loader });
  return code;
}

async function emitRenaming({ name, content, loader }: Source, options: CommonOptions): Promise<string> {
  const { outputFiles } = await build({
    ...options,
    stdin: { contents: content, sourcefile: name, loader },
    plugins: [renamedImports],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    treeShaking: false,
  });
  return outputFiles[0]?.text ?? '';
}

/** Keeps every import instead of bundling it, but makes it name the compiled file. */
const renamedImports: Plugin = {
  name: 'renamed-imports',
  setup(bundler) {
    bundler.onResolve({ filter: /.*/ }, ({ path, kind }) =>
      kind === 'entry-point'
        ? undefined
        : { path: isRelative(path) ? compiledName(path) : path, external: true },
    );
  },
};

const compiledName = (specifier: string): string =>
  specifier.replace(sourceEnding, (_, ending: string) => `${ending}js`);
