import { dataSettings, parseServerConfig, restore } from '@phalanx/server';
import type { Command } from 'commander';

import { addSettingFlags, settingsOf } from '../../../setting-flags.ts';
import { countOf } from './count-of.ts';

const rows = dataSettings.filter(({ name }) => name === 'PHALANX_DATA_DIR');

/** `phalanx restore FILE`: a data folder of an archive. */
export function addRestoreCommand(program: Command): void {
  const command = program
    .command('restore <file>')
    .description('make a new data folder of an archive that "phalanx backup" wrote')
    .addHelpText(
      'after',
      `
The folder has to be empty or not to be there. An archive that is not whole leaves nothing.

Example:
  phalanx restore phalanx-monday.tar --data-dir /var/lib/phalanx`,
    )
    .action(async (file: string) => {
      const { dataDir } = parseServerConfig(settingsOf(command, rows));
      const { files, database, created_at: time } = await restore(file, dataDir);
      console.log(`${dataDir} is as it was on ${time}: ${countOf(files, 'file')}.`);
      console.log(
        database === 'sqlite'
          ? 'Start the service with it; "phalanx check" looks at all of it.'
          : 'Restore the tables from the pg_dump of the same backup, then start the service.',
      );
    });
  addSettingFlags(command, rows);
}
