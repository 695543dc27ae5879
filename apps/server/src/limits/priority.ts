import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/**
 * Nice values; the service itself has 0, and each step is a quarter less of a processor that is contended. What honest
 * users do has to go on beside other programs of a busy machine, so nothing of theirs goes far behind.
 */
const niceOf = { thread: 5, process: 10 };
/** What is done by then was no burden. */
const shortMs = 250;

/** For a process that ends with its work on what users wrote: when it takes long, what is short goes before it. */
export function giveWayByLength(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined) return;
  const timer = setTimeout(() => giveWay(pid), shortMs).unref();
  child.once('exit', () => clearTimeout(timer));
}

/** Others go before the process and all that it has started. Nothing takes it back. */
export function giveWay(pid: number): void {
  for (const thread of threadsOf(pid)) {
    lower(thread, niceOf.process);
    for (const child of childrenOf(pid, thread)) giveWay(child);
  }
}

/** For the thread that calls it. */
export function giveWayAsThread(): void {
  // Elsewhere it would be the whole process.
  if (process.platform === 'linux') lower(0, niceOf.thread);
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
    // It has ended.
  }
}
