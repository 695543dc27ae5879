import { mkdtemp, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Type } from 'typebox';

import { startService } from '../../apps/cli/src/service.ts';
import { answerParent, command } from '../harness/answer-parent.ts';

async function emptyConsole(dataDir: string): Promise<string> {
  const folder = await mkdtemp(path.join(dataDir, 'console-'));
  await writeFile(path.join(folder, 'index.html'), '');
  return folder;
}

answerParent({
  /**
   * Starts server, host and simulated phones in this process, like `phalanx start`, without console pages. Returns
   * the server's address.
   */
  start: command(
    Type.Object({ dataDir: Type.String(), token: Type.String(), count: Type.Integer() }),
    async ({ dataDir, token, count }) => {
      const settings = {
        PHALANX_LISTEN: '127.0.0.1:0',
        PHALANX_DATA_DIR: dataDir,
        PHALANX_ADMIN_TOKEN: token,
        PHALANX_ADB_SERVER: 'off',
        PHALANX_LOG_LEVEL: 'error',
      };
      return (await startService(settings, count, { console: emptyConsole(dataDir) })).server.url;
    },
  ),
});
