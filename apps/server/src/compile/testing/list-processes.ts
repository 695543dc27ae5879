import { readdirSync, readFileSync } from 'node:fs';

/** Ids of the compile processes that `parent` started, this test process if not said. */
export function listProcesses(parent = process.pid): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((id) => {
      try {
        const isOurs = Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${id}/stat`, 'utf8'))?.[1]) === parent;
        return isOurs && readFileSync(`/proc/${id}/cmdline`, 'utf8').includes('compile/process/main.ts');
      } catch {
        return false;
      }
    });
}
