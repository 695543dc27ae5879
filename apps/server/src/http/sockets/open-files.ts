import { readFileSync } from 'node:fs';

/** How many files and connections the process may have open; infinite where the system doesn't say. */
export function mostOpenFiles(): number {
  try {
    const soft = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return soft === undefined ? Infinity : Number(soft);
  } catch {
    return Infinity;
  }
}
