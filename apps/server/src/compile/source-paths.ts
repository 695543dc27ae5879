/** Ending of a source and the ending of what it is compiled to. The longest endings stand first. */
const compiledEndings: readonly (readonly [string, string])[] = [
  ['.mts', '.mjs'],
  ['.cts', '.cjs'],
  ['.tsx', '.js'],
  ['.ts', '.js'],
];

const declaration = /\.d\.(?:[^./]+\.)?[mc]?ts$/;

/** `.d.ts`, `.d.mts`, `.d.cts` and such as `.d.json.ts`: types only, nothing to run. */
export const isDeclaration = (path: string): boolean => declaration.test(path);

/** Where the compiled form of `path` is saved, or undefined when such a file is not compiled. */
export function findCompiledPath(path: string): string | undefined {
  if (isDeclaration(path)) return undefined;
  const ending = compiledEndings.find(([source]) => path.endsWith(source));
  return ending === undefined ? undefined : `${path.slice(0, -ending[0].length)}${ending[1]}`;
}

/** Files that the checker reads of every project: sources and declarations. */
export const isTypeScript = (path: string): boolean =>
  isDeclaration(path) || findCompiledPath(path) !== undefined;

/** The sources that could have been compiled to `path`: `a.js` comes of `a.ts` or `a.tsx`. */
export function listSourcePaths(path: string): string[] {
  return compiledEndings
    .filter(([, compiled]) => path.endsWith(compiled))
    .map(([source, compiled]) => `${path.slice(0, -compiled.length)}${source}`)
    .filter((source) => !isDeclaration(source));
}
