import type { BuildFailure, Message } from 'esbuild';

import { errorLine } from '../error-lines.ts';

/** Its own namespace stands before the names of the user's files. */
export const projectNamespace = 'project';

export const isBuildFailure = (error: unknown): error is BuildFailure =>
  error instanceof Error && 'errors' in error && Array.isArray(error.errors);

/**
 * `main.ts(3,7): error: …`; columns, which esbuild counts in bytes, become UTF-16 units.
 * `fallbackPath` is for what has no place, `knownPath` for a file that esbuild does not know by its path in the project.
 */
export function bundlerErrorLine(
  { location, text }: Message,
  fallbackPath: string,
  knownPath?: string,
): string {
  if (location === null) return errorLine(fallbackPath, undefined, text);
  const before = Buffer.from(location.lineText).subarray(0, location.column).toString();
  const path = knownPath ?? location.file.replace(`${projectNamespace}:`, '');
  return errorLine(path, { line: location.line, column: before.length + 1 }, text);
}
