import { writeFileSync } from 'node:fs';
import path from 'node:path';

import type { ServerApp } from '@phalanx/server';
import { parseServerConfig, serverSettings } from '@phalanx/server/config';
import type { Command } from 'commander';

import { addSettingFlags, settingsOf, adminTokenFileSetting, withTokens } from '../../settings.ts';
import { tellOfStart } from '../../start/reexec.ts';
import { untilSignal } from '../../until-signal.ts';

const rows = [...serverSettings, adminTokenFileSetting];

/** `phalanx server`: runs the REST service alone. */
export function addServerCommand(program: Command): void {
  const command = program
    .command('server')
    .description('run only the server; hosts connect to it with their tokens')
    .action(async () => {
      const settings = withTokens(settingsOf(command, rows));
      const config = parseServerConfig(settings);
      const { prepareConsole } = await import('@phalanx/console');
      const { startServer } = await import('@phalanx/server');
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

/**
 * Prints the sign-in link only to a terminal, whose reader is the administrator; other output may be kept, such
 * as a service's journal.
 */
export async function signInNotice(server: ServerApp): Promise<void> {
  if (!process.stdout.isTTY) return;
  console.log(
    `Sign-in link for the console (works once, within one hour):\n\n  ${await server.createSignInLink()}\n`,
  );
}

/**
 * Prints the token to a terminal, once. Other output may be kept, such as a service's journal, so there the token goes
 * into a file that only the owner of the data folder can read.
 */
export function firstTokenNotice(token: string | undefined, dataDir: string): void {
  if (token === undefined) return;
  if (process.stdout.isTTY) {
    console.log(`\nAdministrator's token (shown only once; keep it safe):\n\n  ${token}\n`);
    return;
  }
  const file = path.resolve(dataDir, 'first-token');
  writeFileSync(file, `${token}\n`, { mode: 0o600 });
  console.log(`The administrator's token is in ${file}: copy it, and delete the file.`);
}
