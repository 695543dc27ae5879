import { hostSettings, parseHostConfig } from '@phalanx/host/config';
import type { Command } from 'commander';

import {
  addSettingFlags,
  settingsOf,
  simulatedPhoneCount,
  simulatedPhonesSetting,
  tokenFileSetting,
  withTokens,
} from '../../settings.ts';
import { tellOfStart } from '../../start/reexec.ts';
import { untilSignal } from '../../until-signal.ts';

const rows = [...hostSettings, simulatedPhonesSetting, tokenFileSetting];

/** `phalanx host`: connects the phones of a machine to a server. */
export function addHostCommand(program: Command): void {
  const command = program
    .command('host')
    .description('run a host: connect the phones of this machine to a server')
    .addHelpText(
      'after',
      '\nExample: phalanx host --server-url https://phones.example.com --token-file token.txt',
    )
    .action(async () => {
      const settings = withTokens(settingsOf(command, rows));
      const { startHost } = await import('@phalanx/host');
      const { startSimulatedPhones, withPhones } = await import('../../simulated-phones.ts');
      const phones = await startSimulatedPhones(simulatedPhoneCount(settings));
      const config = parseHostConfig({ ...settings, PHALANX_PHONES: withPhones(settings, phones) });
      const host = await startHost(config);
      const server = config.serverUrl.href;
      console.log(`Connecting host "${config.hostName}" to ${server}… Press Ctrl-C to stop.`);
      tellOfStart();
      void host.connected.then(() => console.log(`Host "${config.hostName}" connected to ${server}.`));
      await untilSignal();
      await host.close();
      await Promise.all(phones.map((phone) => phone.stop()));
    });
  addSettingFlags(command, rows);
}
