import path from 'node:path';

import type { Policy } from './policy.ts';

/** What this Node itself needs to start again: its program, its libraries, and the few files that they look at. */
export function nodeFiles(): Pick<Policy, 'readable' | 'runnable'> {
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
  const found: unknown = 'sharedObjects' in report ? report.sharedObjects : [];
  const files = Array.isArray(found) ? found.filter((file) => typeof file === 'string') : [];
  return files.filter((file) => path.isAbsolute(file) && !file.endsWith('.node'));
}
