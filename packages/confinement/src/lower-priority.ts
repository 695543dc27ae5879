import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/**
 * Nice values. The service itself has 0, and each step reduces the share of a contended CPU by a quarter. Work of
 * honest users has to progress beside other programs of a busy machine, so it must not fall far behind.
 */
const niceOf = {
  process: 10,
  /** Nice value of a session, whose weight competes with that of the whole service, not with each of its threads. */
  session: 19,
};
/** Lowers the priority of the process and of its descendants permanently. */
export function lowerPriority(pid: number): void {
  lowerAll(pid);
  // On kernels that first share the CPUs among sessions (autogroups), a nice value only counts within its session.
  if (leadsSession(pid)) lowerAutogroup(pid);
}

/** Whether the process leads a session. Any other process belongs to the session of the service. */
function leadsSession(pid: number): boolean {
  try {
    // The name in parentheses may contain any character: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ');
    return Number(fields?.[3]) === pid;
  } catch {
    return false;
  }
}

function lowerAutogroup(pid: number, tries = 5): void {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(niceOf.session));
  } catch (error) {
    // Linux accepts one change per 100 ms.
    const isTooSoon = error instanceof Error && 'code' in error && error.code === 'EAGAIN';
    if (isTooSoon && tries > 0) setTimeout(() => lowerAutogroup(pid, tries - 1), 200).unref();
  }
}

function lowerAll(pid: number): void {
  for (const thread of threadsOf(pid)) {
    lower(thread, niceOf.process);
    for (const child of childrenOf(pid, thread)) lowerAll(child);
  }
}

/** Returns the threads of a process, because each thread has its own priority on Linux. */
function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [pid];
  }
}

function childrenOf(pid: number, thread: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8');
    return text.split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

function lower(id: number, priority: number): void {
  try {
    setPriority(id, priority);
  } catch {
    // The process has ended.
  }
}
