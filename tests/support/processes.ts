import { readdirSync, readFileSync } from 'node:fs';

export interface ProcessState {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  /** Start time in ticks since the machine's boot; together with the process ID it is unique. */
  readonly startedAt: string;
  readonly command: string;
}

function listProcesses(): ProcessState[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    // The name in brackets may contain any characters.
    const [state = '', parent, , session, ...rest] =
      tryRead(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? [];
    if (parent === undefined || state === 'Z') return [];
    const command = tryRead(`/proc/${pid}/cmdline`).replaceAll('\0', ' ');
    const [startedAt = ''] = rest.slice(15);
    return [{ pid: Number(pid), parent: Number(parent), session: Number(session), startedAt, command }];
  });
}

/** Returns the process and its descendants. */
export function family(pid: number, all = listProcesses()): ProcessState[] {
  const own = all.filter((one) => one.pid === pid);
  const children = all.filter(({ parent }) => parent === pid);
  return [...own, ...children.flatMap((child) => family(child.pid, all))];
}

/** Returns the command lines of those `processes` that are still alive. */
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
