// vitest runs this before each test file.
import { readFileSync } from 'node:fs';
import { afterAll } from 'vitest';

import { cleanUpFile } from './file-clean-ups.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** Processor time of a file, with that of the processes that it has started and that have ended; in ms. */
    cpuMs?: number;
  }
}

// A server or a host sets a strict umask for its whole process. adbd, another user, must read what later test files write.
process.umask(0o022);

const tickMs = 10;

/** Undefined where the kernel does not say it. */
function cpuMs(): number | undefined {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // User and system time, then those of children; counted behind the name, which may have spaces.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * tickMs, 0);
  } catch {
    return undefined;
  }
}

const begun = cpuMs() ?? 0;

// The last hook that runs, because it is the first that is added.
// oxlint-disable-next-line no-empty-pattern -- vitest reads the parameter's text
afterAll(({}, file) => {
  const ended = cpuMs();
  if (ended !== undefined) file.meta.cpuMs = ended - begun;
});
afterAll(cleanUpFile);
