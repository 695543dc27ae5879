import { readdirSync, readFileSync } from 'node:fs';

interface Running {
  readonly id: number;
  readonly parent: number;
  readonly command: string;
}

/** Lists the IDs of the compile processes that `parent` (default: this test process) or its starter started. */
function listProcesses(parent = process.pid): number[] {
  const all = listAll();
  const starters = all.filter((one) => one.parent === parent && one.command.includes('--starter'));
  const parents = [parent, ...starters.map(({ id }) => id)];
  return all
    .filter((one) => parents.includes(one.parent) && one.command.includes('compile/process/main.ts'))
    .map(({ id }) => id);
}

/**
 * Creates a function that lists only processes started after this call, because the test servers' compiler lives as
 * long as its worker.
 */
export function listProcessesFromNow(): typeof listProcesses {
  const before = new Set(listProcesses());
  return (parent) => listProcesses(parent).filter((id) => !before.has(id));
}

const listAll = (): Running[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const parent = Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${name}/stat`, 'utf8'))?.[1]);
        return [{ id: Number(name), parent, command: readFileSync(`/proc/${name}/cmdline`, 'utf8') }];
      } catch {
        return [];
      }
    });
