import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Git holds a lock for milliseconds; one this old was left behind by a process that was killed. */
const staleAfterMs = 3000;

/**
 * Removes what killed processes of an earlier start left in a repository: locks, which would stop every write for
 * ever, and half received pushes. Only before this process has begun to use the repository.
 */
export async function removeStaleFiles(gitDir: string): Promise<void> {
  const names = await readdir(path.join(gitDir, 'objects'));
  for (const name of names.filter((one) => one.startsWith('tmp_objdir-')))
    await rm(path.join(gitDir, 'objects', name), { recursive: true, force: true });
  const below = await readdir(path.join(gitDir, 'refs'), { recursive: true });
  const files = [...(await readdir(gitDir)), ...below.map((name) => path.join('refs', name))];
  for (const name of files.filter((one) => one.endsWith('.lock')))
    await removeStaleLock(path.join(gitDir, name));
}

/** Whoever holds the lock may still be at work: they get the time that they would need. */
export async function removeStaleLock(file: string): Promise<void> {
  for (;;) {
    const ageMs = await stat(file).then(
      ({ mtimeMs }) => Date.now() - mtimeMs,
      () => undefined,
    );
    if (ageMs === undefined) return;
    if (ageMs > staleAfterMs || ageMs < 0) return rm(file, { force: true });
    await delay(100);
  }
}
