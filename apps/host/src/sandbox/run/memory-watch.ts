import { closeSync, openSync, readSync } from 'node:fs';

const intervalMs = 250;

/**
 * Resident memory of a child beyond its isolate's heap, in MB: Node itself, the prelude, and garbage not yet collected.
 */
const ownMemoryMb = 160;

const pageBytes = 4096;
const bytesPerMb = 1024 * 1024;

/**
 * Calls `onLimit` once when the child's process uses much more memory than its isolate may. The isolate's own limit
 * does not count all kinds of buffers. Only Linux reports the memory; elsewhere only the isolate's limit applies.
 */
export function watchMemory(
  { pid }: { pid: number | undefined },
  memoryMb: number,
  onLimit: () => void,
): () => void {
  const limitBytes = (memoryMb * 2 + ownMemoryMb) * bytesPerMb;
  const file = pid === undefined ? undefined : openStatm(pid);
  if (file === undefined) return () => {};
  const check = (): void => {
    if (residentBytes(file) > limitBytes) onLimit();
  };
  checks.add(check);
  timer ??= setInterval(checkAll, intervalMs);
  return () => {
    // Runs only once, because the descriptor of a closed file is reused for another one.
    if (!checks.delete(check)) return;
    closeSync(file);
    if (checks.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Checks of all children, run together: separate timers would wake the process for each of them. */
const checks = new Set<() => void>();
let timer: NodeJS.Timeout | undefined;

function checkAll(): void {
  for (const check of checks) check();
}

/** Opens the file once: opening it for each reading, in the thread pool, takes many times as long. */
function openStatm(pid: number): number | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    return openSync(`/proc/${pid}/statm`, 'r');
  } catch {
    return undefined; // The process has ended.
  }
}

const text = Buffer.alloc(128);

function residentBytes(file: number): number {
  try {
    const [, pages] = text.toString('latin1', 0, readSync(file, text, 0, text.length, 0)).split(' ');
    return Number(pages) * pageBytes;
  } catch {
    return 0; // The process has ended.
  }
}
