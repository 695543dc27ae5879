import { globSync } from 'node:fs';

const FOLDERS = '{packages,apps,tests,bench,scripts}';

/** Returns the sorted TypeScript files of the repository, as `/`-separated paths from the root. */
export function listSourceFiles(root: string): readonly string[] {
  const found = globSync(`${FOLDERS}/**/*.{ts,tsx}`, {
    cwd: root,
    exclude: (path) => /(^|[/\\])(node_modules|dist|coverage|data)$/.test(path),
  });
  return found.map((path) => path.replaceAll('\\', '/')).toSorted();
}
