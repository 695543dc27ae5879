import { open, readFile, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const pollMs = 100;

/** Runs `work` in one process at a time. A lock whose process has died is taken over. */
export async function withBuildLock(file: string, work: () => Promise<void>): Promise<void> {
  while (!(await take(file))) {
    if (!(await isHeld(file))) await rm(file, { force: true });
    await sleep(pollMs);
  }
  try {
    await work();
  } finally {
    await rm(file, { force: true });
  }
}

async function take(file: string): Promise<boolean> {
  try {
    const handle = await open(file, 'wx');
    await handle.writeFile(String(process.pid));
    await handle.close();
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

async function isHeld(file: string): Promise<boolean> {
  try {
    const pid = Number(await readFile(file, 'utf8'));
    // Its owner is about to write its number into it.
    if (pid === 0) return true;
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
