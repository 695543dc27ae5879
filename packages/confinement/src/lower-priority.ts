import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/**
 * Nice values; the service itself has 0, and each step is a quarter less of a processor that is contended. Work
 * of honest users has to go on beside other programs of a busy machine, so it must not fall far behind.
 */
const niceOf = {
  process: 10,
  /** Its weight stands against that of the whole service, not of each of its threads. */
  session: 19,
};
/** Others go before the process and all that it has started. Nothing takes it back. */
export function lowerPriority(pid: number): void {
  lowerAll(pid);
  // On kernels that share the processors among sessions first (autogroups), a nice value counts only within its
  // session.
  if (leadsSession(pid)) lowerAutogroup(pid);
}

/** Any other process is in the session of the service. */
function leadsSession(pid: number): boolean {
  try {
    // The name in brackets may contain any character: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
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
    // Linux takes one change in a tenth of a second.
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

/** On Linux each thread has a priority of its own. */
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
