import { readdirSync, readFileSync } from 'node:fs';

export interface ProcessState {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  /** In ticks since the machine has started: with the ID it names one process for good. */
  readonly startedAt: string;
  readonly command: string;
}

function listProcesses(): ProcessState[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    // The name in brackets may have anything in it.
    const [state = '', parent, , session, ...rest] =
      tryRead(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? [];
    if (parent === undefined || state === 'Z') return [];
    const command = tryRead(`/proc/${pid}/cmdline`).replaceAll('\0', ' ');
    const [startedAt = ''] = rest.slice(15);
    return [{ pid: Number(pid), parent: Number(parent), session: Number(session), startedAt, command }];
  });
}

/** The process and all that it has started. */
export function family(pid: number, all = listProcesses()): ProcessState[] {
  const own = all.filter((one) => one.pid === pid);
  const children = all.filter(({ parent }) => parent === pid);
  return [...own, ...children.flatMap((child) => family(child.pid, all))];
}

/** Those of `processes` that are still there, as their command lines. */
export function living(processes: readonly ProcessState[]): string[] {
  const now = new Set(listProcesses().map(({ pid, startedAt }) => `${pid} ${startedAt}`));
  return processes
    .filter(({ pid, startedAt }) => now.has(`${pid} ${startedAt}`))
    .map(({ command }) => command);
}

export function tryRead(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
