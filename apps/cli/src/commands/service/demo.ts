import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { serverSettings } from '@phalanx/server';
import { type Environment, explainFolder } from '@phalanx/settings';
import type { Command } from 'commander';

import { ApiClient } from '../../api-client.ts';
import { printIntroduction, printNextSteps } from '../../demo/print-steps.ts';
import { runSamples } from '../../demo/run-sample.ts';
import { CommandError, exitCodes } from '../../exit-codes.ts';
import { type Service, startService } from '../../service.ts';
import { addSettingFlags, settingsOf } from '../../setting-flags.ts';
import { tellOfStart } from '../../start/start-anew.ts';
import { untilSignal } from '../../until-signal.ts';

const rows = serverSettings.filter(({ name }) => name === 'PHALANX_LISTEN');
const usualAddress = '127.0.0.1:8080';

/** The usual address if it is free, else any. */
async function freeAddress(): Promise<string> {
  const probe = createServer();
  const { promise, resolve } = Promise.withResolvers<boolean>();
  probe.once('error', () => resolve(false));
  probe.listen(8080, '127.0.0.1', () => resolve(true));
  const isFree = await promise;
  if (!isFree) return '127.0.0.1:0';
  await new Promise((done) => probe.close(done));
  return usualAddress;
}

async function demoSettings(given: Environment, dataDir: string): Promise<Environment> {
  const listen = given['PHALANX_LISTEN'] ?? (await freeAddress());
  const settings = { ...given, PHALANX_DATA_DIR: dataDir, PHALANX_LISTEN: listen };
  // The demo shows its own phone, whatever is attached; its output is for people, not for a log.
  return {
    PHALANX_LOG_LEVEL: 'error',
    ...settings,
    PHALANX_ADB_SERVER: 'off',
    PHALANX_ADMIN_TOKEN: undefined,
  };
}

/** `phalanx demo`: everything at once, on a simulated phone, in a folder that is deleted afterwards. */
export function addDemoCommand(program: Command): void {
  const command = program
    .command('demo')
    .description('show the main job on a simulated phone')
    .action(async () => {
      const settings = settingsOf(command, rows);
      const stopped = untilSignal();
      const dataDir = await temporaryFolder();
      try {
        const service = await startService(await demoSettings(settings, dataDir), 1);
        try {
          await Promise.race([present(service), stopped]);
          await stopped;
        } finally {
          await service.close();
        }
      } finally {
        await rm(dataDir, { recursive: true, force: true });
      }
    });
  addSettingFlags(command, rows);
}

async function temporaryFolder(): Promise<string> {
  try {
    return await mkdtemp(path.join(tmpdir(), 'phalanx-demo-'));
  } catch (error) {
    throw explainFolder(error, { setting: 'TMPDIR', folder: tmpdir() });
  }
}

async function present({ server, host }: Service): Promise<void> {
  const { url, firstToken: token } = server;
  if (token === undefined) throw new CommandError(exitCodes.failed, 'The demo could not make a token.');
  const api = new ApiClient(url, token);
  tellOfStart();
  printIntroduction(url, host.protection);
  const device = await runSamples(api);
  printNextSteps({ url, token, device, signInLink: await server.createSignInLink() });
}
