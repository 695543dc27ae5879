import { findReservedReason } from './reserved-names.ts';

export const maxPathBytes = 1024;
/** What file systems take, so that every file can be checked out. */
const maxSegmentBytes = 255;

// oxlint-disable-next-line no-control-regex
const controlCharacter = /[\u0000-\u001F\u007F-\u009F]/;

/** What keeps `name` from being one segment of a path, as the end of a sentence that begins with it. */
export function findSegmentProblem(name: string): string | undefined {
  // First: what follows takes time in proportion.
  if (name.length > maxSegmentBytes || Buffer.byteLength(name) > maxSegmentBytes)
    return `must not have a segment of more than ${maxSegmentBytes} bytes`;
  if (name === '') return 'has an empty segment: use single slashes, and none at either end';
  if (name === '.' || name === '..') return 'must not have "." or ".." as a segment';
  if (controlCharacter.test(name)) return 'must not contain control characters';
  if (name.includes('\\')) return 'must not contain a backslash: separate folders with "/"';
  return findReservedReason(name);
}

/** What keeps `path` from being the path of a file in a project. */
export function findPathProblem(path: string): string | undefined {
  if (path === '') return 'must not be empty';
  // First: what follows takes time in proportion.
  if (path.length > maxPathBytes || Buffer.byteLength(path) > maxPathBytes)
    return `must not be longer than ${maxPathBytes} bytes`;
  if (!path.isWellFormed()) return 'must be valid Unicode: it has half of a surrogate pair';
  if (path.startsWith('/')) return 'must be relative: it starts with "/"';
  for (const name of path.split('/')) {
    const problem = findSegmentProblem(name);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
