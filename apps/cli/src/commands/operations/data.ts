import { dataSettings, parseServerConfig } from '@phalanx/server/config';
import type { Command } from 'commander';

import { CommandError, exitCodes } from '../../exit-codes.ts';
import { notice } from '../../output/terminal.ts';
import { addSettingFlags, settingsOf } from '../../settings.ts';

const onPostgres =
  'The tables are in PostgreSQL and not in this archive: it goes with a pg_dump that was made just before it.';

const onS3 = (bucket: string): string =>
  `Captures and large packs are in the bucket ${bucket} and not in this archive: they are as safe as its versions and copies.`;

/** `phalanx backup FILE`: what lasts of the service, in one file. */
export function addBackupCommand(program: Command): void {
  const command = program
    .command('backup <file>')
    .description('write what lasts of a service on this machine to a new archive, also while it runs')
    .addHelpText(
      'after',
      `
The archive has passwords' hashes and keys: keep it as you keep the data folder. Log entries of the last minutes are not in it.
With PostgreSQL, run pg_dump first: the archive has the files of the data folder, and not the tables. What is in S3 is not in it either.

Examples:
  phalanx backup phalanx-monday.tar --data-dir /var/lib/phalanx
  phalanx restore phalanx-monday.tar --data-dir /var/lib/phalanx-restored`,
    )
    .action(async (file: string) => {
      const place = parseServerConfig(settingsOf(command, dataSettings));
      const { backUp } = await import('@phalanx/server');
      const { files, database, missing } = await backUp(place, file);
      for (const name of missing) notice(`missing: ${name}`);
      console.log(`${file} has ${countOf(files, 'file')} of ${place.dataDir}.`);
      if (database === 'postgresql') notice(onPostgres);
      if (place.s3 !== undefined) notice(onS3(place.s3.bucket));
      if (missing.length > 0)
        throw new CommandError(
          exitCodes.failed,
          `The archive was written, but ${countOf(missing.length, 'file')} that the database names ${missing.length === 1 ? 'is' : 'are'} lost.`,
        );
    });
  addSettingFlags(command, dataSettings);
}

const restoreSettings = dataSettings.filter(({ name }) => name === 'PHALANX_DATA_DIR');

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
      const { dataDir } = parseServerConfig(settingsOf(command, restoreSettings));
      const { restore } = await import('@phalanx/server');
      const { files, database, created_at: time } = await restore(file, dataDir);
      console.log(`${dataDir} is as it was on ${time}: ${countOf(files, 'file')}.`);
      console.log(
        database === 'sqlite'
          ? 'Start the service with it; "phalanx check" looks at all of it.'
          : 'Restore the tables from the pg_dump of the same backup, then start the service.',
      );
    });
  addSettingFlags(command, restoreSettings);
}

/** `phalanx check`: whether what lasts of the service is whole. */
export function addCheckCommand(program: Command): void {
  const command = program
    .command('check')
    .description('look whether the data of a service on this machine is whole, also while it runs')
    .action(async () => {
      const { checkData } = await import('@phalanx/server');
      const { problems, files, projects } = await checkData(
        parseServerConfig(settingsOf(command, dataSettings)),
      );
      for (const line of problems) console.log(line);
      const looked = `${countOf(files, 'file')} and ${countOf(projects, 'project')} were looked at`;
      if (problems.length > 0)
        throw new CommandError(exitCodes.failed, `${looked}: ${countOf(problems.length, 'problem')}.`);
      console.log(`${looked}: all is well.`);
    });
  addSettingFlags(command, dataSettings);
}

/** `phalanx migrate`: the tables, before several servers are started with a new release. */
export function addMigrateCommand(program: Command): void {
  const command = program
    .command('migrate')
    .description(
      'bring the tables of the database up to date; several servers do not do that by themselves, and may go on meanwhile',
    )
    .action(async () => {
      const { migrateData } = await import('@phalanx/server');
      const made = await migrateData(parseServerConfig(settingsOf(command, dataSettings)));
      for (const name of made) console.log(name);
      console.log(made.length === 0 ? 'The tables are up to date.' : 'The tables are up to date now.');
    });
  addSettingFlags(command, dataSettings);
}

/** `1 file`, `2 files`. */
const countOf = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? '' : 's'}`;
