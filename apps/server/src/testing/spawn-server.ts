import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

import { databaseSettings, defaultEngine } from './engines/test-database.ts';
import { adminToken } from './test-server.ts';

/** A server in a process of its own, to be killed. Resolves when it answers at the address. */
export async function spawnServer(
  dataDir: string,
  engine = defaultEngine,
): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'server-process.ts')], {
    env: {
      ...process.env,
      PHALANX_LISTEN: '127.0.0.1:0',
      PHALANX_DATA_DIR: dataDir,
      PHALANX_ADMIN_TOKEN: adminToken,
      PHALANX_LOG_LEVEL: 'silent',
      ...(await databaseSettings(dataDir, engine)),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, url: line.toString().trim() };
}
