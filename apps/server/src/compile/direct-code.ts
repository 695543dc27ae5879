import { build, type BuildFailure, type Message, type Plugin } from 'esbuild';

import { ApiError } from '../http/api-error.ts';

/** Code that is ready for the sandbox: one script without imports, and the way back to the user's lines. */
export interface DirectBundle {
  code: string;
  /** JSON of a version 3 source map. */
  sourceMap: string | null;
}

const fileName = 'main.ts';
/** The wrapper imports the user's code for its effects alone, so that what it exports does not stay in the script. */
const wrapper = 'import "phalanx:code";';
/** Code without an import or export would pass for a CommonJS module. */
const moduleMark = '\nexport {};';

const userCode = (code: string): Plugin => ({
  name: 'user-code',
  setup(bundler) {
    bundler.onResolve({ filter: /.*/ }, ({ path, kind, importer }) => {
      if (kind === 'entry-point') return { path, namespace: 'wrapper' };
      if (path === 'phalanx:code' && importer.endsWith('wrapper'))
        return { path: fileName, namespace: 'user' };
      return {
        errors: [{ text: `Cannot import "${path}": direct code stands alone, it can import nothing` }],
      };
    });
    bundler.onLoad({ filter: /.*/, namespace: 'wrapper' }, () => ({ contents: wrapper, loader: 'js' }));
    bundler.onLoad({ filter: /.*/, namespace: 'user' }, () => ({
      contents: `${code}${moduleMark}`,
      loader: 'ts',
    }));
  },
});

/** `main.ts(3,7): error: Expected ";" but found "x"`, counted from 1. */
function errorLine({ location, text }: Message): string {
  const place = location === null ? '' : `(${location.line},${location.column + 1})`;
  return `${fileName}${place}: error: ${text}`;
}

const isBuildFailure = (error: unknown): error is BuildFailure =>
  error instanceof Error && 'errors' in error && Array.isArray(error.errors);

/** The bundler puts its own namespace before the name of the user's file. */
function nameSource(sourceMap: string | undefined): string | null {
  return sourceMap === undefined ? null : sourceMap.replace(`"user:${fileName}"`, `"${fileName}"`);
}

/** Compiles TypeScript or JavaScript. Throws `compile_failed` with a line for each mistake. */
export async function compileDirectCode(code: string): Promise<DirectBundle> {
  try {
    const { outputFiles } = await build({
      entryPoints: ['wrapper'],
      outfile: 'main.js',
      plugins: [userCode(code)],
      bundle: true,
      write: false,
      format: 'esm',
      target: 'es2024',
      platform: 'neutral',
      treeShaking: false,
      // An import that is never used would be dropped as a type's; it is a mistake all the same.
      tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
      sourcemap: 'external',
      sourcesContent: false,
      define: { 'import.meta': '{}' },
      // A module is strict code; the script that it becomes has to say so.
      banner: { js: '"use strict";' },
      logLevel: 'silent',
      charset: 'utf8',
    });
    const text = (suffix: string): string | undefined =>
      outputFiles.find((file) => file.path.endsWith(suffix))?.text;
    return { code: text('.js') ?? '', sourceMap: nameSource(text('.js.map')) };
  } catch (error) {
    if (!isBuildFailure(error)) throw error;
    const errors = error.errors.map(errorLine);
    throw ApiError.of('compile_failed', { summary: errors[0] ?? 'unknown mistake' }, { errors });
  }
}
