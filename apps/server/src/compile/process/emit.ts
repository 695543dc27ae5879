import { posix } from 'node:path';

import { build, transform, type Loader, type Plugin, type TsconfigRaw } from 'esbuild';

import { isRelative } from '../import-resolution.ts';
import type { ProjectSettings } from '../project-settings.ts';
import { bundlerErrorLine, isBuildFailure } from './bundler-errors.ts';

export type EmitResult = { ok: true; js: string } | { ok: false; errors: string[] };

/** What the sandbox's V8 runs as it is; newer syntax, such as decorators, is rewritten. */
export const emitTarget = 'es2024';

const sourceEnding = /(\.[mc]?)tsx?$/;
/** Imports that name a source by its ending have to name what it is compiled to. */
const namesSource = /\.[mc]?tsx?['"`]/;

export function loaderOf(path: string): Loader {
  if (path.endsWith('.json')) return 'json';
  if (/\.[mc]?js$/.test(path)) return 'js';
  if (path.endsWith('.jsx')) return 'jsx';
  return path.endsWith('.tsx') ? 'tsx' : 'ts';
}

/** How the options of the project change the code. */
export function emitOptions({ options }: ProjectSettings): TsconfigRaw {
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

/** JavaScript of one source, with its source map inside, which names the source beside it. */
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

interface Source {
  name: string;
  content: string;
  loader: Loader;
}

const commonOptions = (settings: ProjectSettings) =>
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

/** Bundles nothing: every import stays, but names the compiled file. */
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
