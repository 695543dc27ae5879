import { parseServerConfig, serverSettings, startServer } from '@phalanx/server';
import type { Command } from 'commander';

import { addSettingFlags, settingsOf } from '../setting-flags.ts';
import { untilSignal } from '../until-signal.ts';
import { firstTokenNotice } from './first-token-notice.ts';

/** `phalanx server`: the REST service alone. */
export function addServerCommand(program: Command): void {
  const command = program
    .command('server')
    .description('run the server alone; hosts connect to it with their tokens')
    .action(async () => {
      const settings = settingsOf(command, serverSettings);
      const config = parseServerConfig(settings);
      const server = await startServer(config);
      console.log(`Phalanx server is at ${server.url} (API reference: ${server.url}/docs)`);
      firstTokenNotice(server.firstToken, config.dataDir);
      await untilSignal();
      await server.close();
    });
  addSettingFlags(command, serverSettings);
}
