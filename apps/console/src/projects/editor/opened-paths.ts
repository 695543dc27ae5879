const mostOpen = 20;

/** The same list where the path is open already; beyond the most, the one that was opened first is closed. */
export function withOpened(paths: readonly string[], path: string | undefined): readonly string[] {
  if (path === undefined || paths.includes(path)) return paths;
  return [...paths, path].slice(-mostOpen);
}

/** What is shown when a path is closed: the one to its right, else to its left. */
export function nextOpen(paths: readonly string[], closed: string): string | undefined {
  const at = paths.indexOf(closed);
  return paths[at + 1] ?? paths[at - 1];
}
