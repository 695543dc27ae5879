import { dataSettings, migrateData, parseServerConfig } from '@phalanx/server';
import type { Command } from 'commander';

import { addSettingFlags, settingsOf } from '../../setting-flags.ts';

/** `phalanx migrate`: the tables, before several servers are started with a new release. */
export function addMigrateCommand(program: Command): void {
  const command = program
    .command('migrate')
    .description(
      'bring the tables of the database up to date; several servers do not do that by themselves, and may go on meanwhile',
    )
    .action(async () => {
      const made = await migrateData(parseServerConfig(settingsOf(command, dataSettings)));
      for (const name of made) console.log(name);
      console.log(made.length === 0 ? 'The tables are up to date.' : 'The tables are up to date now.');
    });
  addSettingFlags(command, dataSettings);
}
