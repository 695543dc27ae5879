import { hostSettings } from '@phalanx/host/config';
import { parseServerConfig, serverSettings } from '@phalanx/server/config';
import type { Setting } from '@phalanx/settings';
import type { Command } from 'commander';

import { tellOfStart } from '../../start/reexec.ts';
import {
  addSettingFlags,
  settingsOf,
  adminTokenFileSetting,
  simulatedPhoneCount,
  simulatedPhonesSetting,
  withTokens,
} from '../../settings.ts';
import { untilSignal } from '../../until-signal.ts';
import { firstTokenNotice, signInNotice } from './server.ts';

const ownSettings = new Set(['PHALANX_SERVER_URL', 'PHALANX_TOKEN']);
const rows = [
  ...serverSettings,
  ...hostSettings.filter((setting) => !ownSettings.has(setting.name)),
  simulatedPhonesSetting,
  adminTokenFileSetting,
];

const ofServer = new Set(serverSettings);
const ofHost = new Set(hostSettings.filter((setting) => !ofServer.has(setting)));

/** Returns the heading of a setting in the help. */
function groupOf(row: Setting): string {
  if (row.name.startsWith('PHALANX_S3_')) return 'Storage in S3:';
  if (/_MAX_(?!TEMPERATURE)|_PER_|_IDLE_|_DAYS$|_RUN_|_KEPT$|_LOG_MB$/.test(row.name)) return 'Limits:';
  return ofHost.has(row) || row === simulatedPhonesSetting ? 'Phones and automations:' : 'Service:';
}

/** `phalanx start`: runs server and host together on one machine. */
export function addStartCommand(program: Command): void {
  const command = program
    .command('start')
    .description('run server and host together on this machine, with its attached phones')
    .action(async () => {
      const settings = withTokens(settingsOf(command, rows));
      const { startService } = await import('../../service.ts');
      const service = await startService(settings, simulatedPhoneCount(settings));
      console.log(`Phalanx is at ${service.server.url} (API reference: ${service.server.url}/docs)`);
      firstTokenNotice(service.server.firstToken, parseServerConfig(settings).dataDir);
      tellOfStart();
      await signInNotice(service.server);
      console.log('Press Ctrl-C to stop.');
      try {
        await Promise.race([untilSignal(), service.server.ended]);
      } finally {
        await service.close();
      }
    });
  addSettingFlags(command, rows, groupOf);
}
