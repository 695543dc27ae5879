import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const pollMs = 250;

/**
 * Runs the work while no other start of the same folder does. The lock is a name in the kernel (an abstract socket of
 * Linux), which goes with its process, so a killed start leaves nothing behind. Other systems have no such names, and no
 * lock.
 */
export async function withInstallLock(root, work) {
  const lock = process.platform === 'linux' ? await acquire(root) : undefined;
  try {
    await work();
  } finally {
    lock?.close();
  }
}

async function acquire(root) {
  const hash = createHash('sha256').update(realpathSync(root)).digest('hex').slice(0, 32);
  for (let waited = false; ; waited = true) {
    const lock = createServer().listen(`\0phalanx-install-${hash}`);
    try {
      await once(lock, 'listening');
      return lock;
    } catch (error) {
      if (error.code !== 'EADDRINUSE') throw error;
    }
    if (!waited) console.error('phalanx: another start is installing the npm packages; waiting for it ...');
    await delay(pollMs);
  }
}
