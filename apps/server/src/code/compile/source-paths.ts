import { posix } from 'node:path';

/** Extension of each source and of its compiled file. The longest extensions come first. */
const compiledEndings: readonly (readonly [string, string])[] = [
  ['.mts', '.mjs'],
  ['.cts', '.cjs'],
  ['.tsx', '.js'],
  ['.ts', '.js'],
];

const declaration = /\.d\.(?:[^./]+\.)?[mc]?ts$/;

/** Extensions that an import may omit, in the order of the checker, which prefers sources to compiled files. */
const endings = ['.ts', '.tsx', '.js', '.jsx', '.mts', '.mjs', '.cts', '.cjs'];
const sourcesOf: Record<string, readonly string[]> = {
  '.js': ['.ts', '.tsx'],
  '.jsx': ['.tsx', '.ts'],
  '.mjs': ['.mts'],
  '.cjs': ['.cts'],
};

const plainDeclaration = /\.d\.[mc]?ts$/;

/** Whether a file contains only types: `.d.ts`, `.d.mts`, `.d.cts` and, for example, `.d.json.ts`. */
export const isDeclaration = (path: string): boolean => declaration.test(path);

/** Returns the path of the file that `path` compiles to. Undefined when such a file is not compiled. */
export function findCompiledPath(path: string): string | undefined {
  if (isDeclaration(path)) return undefined;
  const ending = compiledEndings.find(([source]) => path.endsWith(source));
  return ending === undefined ? undefined : `${path.slice(0, -ending[0].length)}${ending[1]}`;
}

/** Whether the checker always reads the file: a source or a declaration. */
export const isTypeScript = (path: string): boolean =>
  isDeclaration(path) || findCompiledPath(path) !== undefined;

/** Lists the sources that could compile to `path`: `a.ts` and `a.tsx` for `a.js`. */
export function listSourcePaths(path: string): string[] {
  return compiledEndings
    .filter(([, compiled]) => path.endsWith(compiled))
    .map(([source, compiled]) => `${path.slice(0, -compiled.length)}${source}`)
    .filter((source) => !isDeclaration(source));
}

export const isRelative = (specifier: string): boolean => /^\.\.?(?:\/|$)/.test(specifier);

/** Returns the project path that a relative import in `importer` names. Undefined when it is outside the project. */
export function findImportedPath(importer: string, specifier: string): string | undefined {
  const path = posix.join(posix.dirname(importer), specifier);
  return path === '..' || path.startsWith('../') ? undefined : path.replace(/\/$/, '');
}

/**
 * Finds the file that an import path resolves to: the source, the file itself, the file with an omitted extension, or
 * the folder's index.
 */
export function findModule(path: string, exists: (path: string) => boolean): string | undefined {
  const candidates = [...sourceCandidates(path), path, ...endings.map((ending) => `${path}${ending}`)];
  const folder = path === '.' || path === '' ? '' : `${path}/`;
  const indexes = endings.map((ending) => `${folder}index${ending}`);
  return [...candidates, ...indexes].find((file) => exists(file) && !plainDeclaration.test(file));
}

function sourceCandidates(path: string): string[] {
  const ending = posix.extname(path);
  return (sourcesOf[ending] ?? []).map((source) => `${path.slice(0, -ending.length)}${source}`);
}
