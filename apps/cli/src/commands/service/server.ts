import { prepareConsole } from '@phalanx/console';
import { parseServerConfig, serverSettings, startServer } from '@phalanx/server';
import type { Command } from 'commander';

import { addSettingFlags, settingsOf } from '../../setting-flags.ts';
import { adminTokenFileSetting, withTokens } from '../../settings.ts';
import { tellOfStart } from '../../start/start-anew.ts';
import { untilSignal } from '../../until-signal.ts';
import { firstTokenNotice, signInNotice } from './sign-in-notice.ts';

const rows = [...serverSettings, adminTokenFileSetting];

/** `phalanx server`: the REST service alone. */
export function addServerCommand(program: Command): void {
  const command = program
    .command('server')
    .description('run the server alone; hosts connect to it with their tokens')
    .action(async () => {
      const settings = withTokens(settingsOf(command, rows));
      const config = parseServerConfig(settings);
      const server = await startServer(config, { console: prepareConsole() });
      console.log(`Phalanx server is at ${server.url} (API reference: ${server.url}/docs)`);
      firstTokenNotice(server.firstToken, config.dataDir);
      tellOfStart();
      await signInNotice(server);
      try {
        await Promise.race([untilSignal(), server.ended]);
      } finally {
        await server.close();
      }
    });
  addSettingFlags(command, rows);
}
