import path from 'node:path';

import type { Policy } from './policy.ts';

type NodeFiles = Pick<Policy, 'readable' | 'runnable'>;

let found: NodeFiles | undefined;

/**
 * What this Node itself needs to start again: its program, its libraries, and the few files that they look at. Looked
 * for once: the report that tells the libraries holds up the thread for some milliseconds.
 */
export function nodeFiles(): NodeFiles {
  return (found ??= findNodeFiles());
}

function findNodeFiles(): NodeFiles {
  const libraries = sharedObjects();
  return {
    readable: [...libraries, '/etc/ld.so.cache', '/dev/null', '/dev/urandom', '/proc/self'],
    // The kernel executes the loader of the libraries, too.
    runnable: [process.execPath, ...libraries.filter((file) => path.basename(file).startsWith('ld'))],
  };
}

function sharedObjects(): string[] {
  // Without it the report looks up the names of all open connections. Missing in the types of Node 24.
  Object.assign(process.report, { excludeNetwork: true });
  const report: object = process.report.getReport();
  const listed: unknown = 'sharedObjects' in report ? report.sharedObjects : [];
  const files = Array.isArray(listed) ? listed.filter((file) => typeof file === 'string') : [];
  return files.filter((file) => path.isAbsolute(file) && !file.endsWith('.node'));
}
