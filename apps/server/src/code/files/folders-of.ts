/** Lists the folders of a path, the outermost first: `a` and `a/b` for `a/b/c.ts`. */
export const foldersOf = (path: string): string[] =>
  Array.from(path.matchAll(/\//g), ({ index }) => path.slice(0, index));
