import { parseServerConfig, startServer } from '@phalanx/server';
import { Type } from 'typebox';

import { answerParent, command } from '../harness/answer-parent.ts';

answerParent({
  /** Starts the product's server with the product's defaults. Returns its address. */
  listen: command(
    Type.Object({ dataDir: Type.String(), token: Type.String() }),
    async ({ dataDir, token }) => {
      const config = parseServerConfig({
        PHALANX_LISTEN: '127.0.0.1:0',
        PHALANX_DATA_DIR: dataDir,
        PHALANX_ADMIN_TOKEN: token,
        PHALANX_LOG_LEVEL: 'warn',
      });
      return (await startServer(config)).url;
    },
  ),
});
