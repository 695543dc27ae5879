import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { realpath } from 'node:fs/promises';
import { createServer } from 'node:net';
import { SettingError } from '@phalanx/settings';

/**
 * Keeps a second host from using the same folder: two would take each other's runs for those of a host that died.
 * The lock is a name in the kernel that goes with the process, so that a killed one leaves nothing behind. Systems
 * other than Linux and Windows have no such names, and no lock. Returns how to unlock.
 */
export async function lockFolder(dir: string): Promise<() => Promise<void>> {
  const path = lockName(await realpath(dir));
  if (path === undefined) return async () => {};
  const server = createServer((socket) => socket.destroy());
  try {
    server.listen({ path });
    await once(server, 'listening');
  } catch (cause) {
    throw new SettingError(
      `The folder ${dir} is in use by another host program. Stop that one, or set PHALANX_DATA_DIR.`,
      { cause },
    );
  }
  server.unref();
  return async () => {
    server.close();
    await once(server, 'close');
  };
}

function lockName(dir: string): string | undefined {
  const hash = createHash('sha256').update(dir).digest('hex').slice(0, 32);
  if (process.platform === 'linux') return `\0phalanx-host-${hash}`;
  if (process.platform === 'win32') return `\\\\.\\pipe\\phalanx-host-${hash}`;
  return undefined;
}
