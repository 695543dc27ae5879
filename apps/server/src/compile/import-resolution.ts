import { posix } from 'node:path';

/** What an import may mean, in the order of the checker, which prefers sources to what they are compiled to. */
const endings = ['.ts', '.tsx', '.js', '.jsx', '.mts', '.mjs', '.cts', '.cjs'];
const sourcesOf: Record<string, readonly string[]> = {
  '.js': ['.ts', '.tsx'],
  '.jsx': ['.tsx', '.ts'],
  '.mjs': ['.mts'],
  '.cjs': ['.cts'],
};
const declaration = /\.d\.[mc]?ts$/;

export const isRelative = (specifier: string): boolean => /^\.\.?(?:\/|$)/.test(specifier);

/** The path inside the project that a relative import of `importer` names, or undefined when it leads out of the project. */
export function findImportedPath(importer: string, specifier: string): string | undefined {
  const path = posix.join(posix.dirname(importer), specifier);
  return path === '..' || path.startsWith('../') ? undefined : path.replace(/\/$/, '');
}

/** The file that a path written in an import stands for: itself, its source, the file without its ending, the folder's index. */
export function findModule(path: string, exists: (path: string) => boolean): string | undefined {
  const candidates = [...sourceCandidates(path), path, ...endings.map((ending) => `${path}${ending}`)];
  const folder = path === '.' || path === '' ? '' : `${path}/`;
  const indexes = endings.map((ending) => `${folder}index${ending}`);
  return [...candidates, ...indexes].find((file) => exists(file) && !declaration.test(file));
}

function sourceCandidates(path: string): string[] {
  const ending = posix.extname(path);
  return (sourcesOf[ending] ?? []).map((source) => `${path.slice(0, -ending.length)}${source}`);
}
