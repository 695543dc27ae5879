import { readFile } from 'node:fs/promises';

const intervalMs = 250;

/** Resident memory of a child beyond its isolate's heap: Node itself, the prelude, garbage not yet collected. */
const ownMemoryMb = 160;

const pageBytes = 4096;
const bytesPerMb = 1024 * 1024;

/**
 * Calls `onLimit` once when the child's process holds much more memory than its isolate may: the isolate's own limit
 * does not see all kinds of buffers. Only Linux tells; elsewhere the isolate's limit stands alone.
 */
export function watchMemory(
  { pid }: { pid: number | undefined },
  memoryMb: number,
  onLimit: () => void,
): () => void {
  if (process.platform !== 'linux' || pid === undefined) return () => {};
  const limitBytes = (memoryMb * 2 + ownMemoryMb) * bytesPerMb;
  const timer = setInterval(() => {
    void residentBytes(pid).then((bytes) => {
      if (bytes > limitBytes) onLimit();
    });
  }, intervalMs);
  return () => clearInterval(timer);
}

async function residentBytes(pid: number): Promise<number> {
  try {
    const [, pages] = (await readFile(`/proc/${pid}/statm`, 'utf8')).split(' ');
    return Number(pages) * pageBytes;
  } catch {
    return 0; // The process has ended.
  }
}
