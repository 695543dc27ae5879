import { dataSettings, parseServerConfig } from '@phalanx/server/config';
import type { Command } from 'commander';

import { CommandError, exitCodes } from '../../exit-codes.ts';
import { notice } from '../../output/terminal.ts';
import { addSettingFlags, settingsOf } from '../../settings.ts';

const onPostgres =
  'The tables are in PostgreSQL, not in this archive: keep it together with a pg_dump made just before it.';

const onS3 = (bucket: string): string =>
  `Captures and large packs are in the bucket ${bucket}, not in this archive: protect them with versioning or copies of the bucket.`;

/** `phalanx backup FILE`: writes the service's durable data to one file. */
export function addBackupCommand(program: Command): void {
  const command = program
    .command('backup <file>')
    .description("back up a local service's data (safe while it runs)")
    .addHelpText(
      'after',
      `
The archive contains password hashes and keys: protect it like the data folder. It lacks log entries of the last few
minutes. With PostgreSQL, run pg_dump first: the archive contains the files of the data folder, but not the tables. It
contains no objects from S3 either.

Examples:
  phalanx backup phalanx-monday.tar --data-dir /var/lib/phalanx
  phalanx restore phalanx-monday.tar --data-dir /var/lib/phalanx-restored`,
    )
    .action(async (file: string) => {
      const place = parseServerConfig(settingsOf(command, dataSettings));
      const { backUp } = await import('@phalanx/server');
      const { files, database, missing } = await backUp(place, file);
      for (const name of missing) notice(`missing: ${name}`);
      console.log(`Backed up ${countOf(files, 'file')} of ${place.dataDir} to ${file}.`);
      if (database === 'postgresql') notice(onPostgres);
      if (place.s3 !== undefined) notice(onS3(place.s3.bucket));
      if (missing.length > 0)
        throw new CommandError(
          exitCodes.failed,
          `The archive was written, but ${countOf(missing.length, 'file')} that the database refers to ${missing.length === 1 ? 'is' : 'are'} missing.`,
        );
    });
  addSettingFlags(command, dataSettings);
}

const restoreSettings = dataSettings.filter(({ name }) => name === 'PHALANX_DATA_DIR');

/** `phalanx restore FILE`: creates a data folder from an archive. */
export function addRestoreCommand(program: Command): void {
  const command = program
    .command('restore <file>')
    .description('restore a backup into a new data folder')
    .addHelpText(
      'after',
      `
The folder must be empty or must not exist. An incomplete archive is not restored.

Example:
  phalanx restore phalanx-monday.tar --data-dir /var/lib/phalanx`,
    )
    .action(async (file: string) => {
      const { dataDir } = parseServerConfig(settingsOf(command, restoreSettings));
      const { restore } = await import('@phalanx/server');
      const { files, database, created_at: time } = await restore(file, dataDir);
      console.log(`Restored ${countOf(files, 'file')} of ${time} to ${dataDir}.`);
      console.log(
        database === 'sqlite'
          ? 'Start the service with this folder. "phalanx check" checks all of its data.'
          : 'Restore the tables from the pg_dump of the same backup, then start the service.',
      );
    });
  addSettingFlags(command, restoreSettings);
}

/** `phalanx check`: checks the integrity of the service's durable data. */
export function addCheckCommand(program: Command): void {
  const command = program
    .command('check')
    .description("check the integrity of a local service's data (safe while it runs)")
    .action(async () => {
      const { checkData } = await import('@phalanx/server');
      const { problems, files, projects } = await checkData(
        parseServerConfig(settingsOf(command, dataSettings)),
      );
      for (const line of problems) console.log(line);
      const looked = `Checked ${countOf(files, 'file')} and ${countOf(projects, 'project')}`;
      if (problems.length > 0)
        throw new CommandError(exitCodes.failed, `${looked}: ${countOf(problems.length, 'problem')}.`);
      console.log(`${looked}: no problems.`);
    });
  addSettingFlags(command, dataSettings);
}

/** `phalanx migrate`: updates the tables before several servers start with a new release. */
export function addMigrateCommand(program: Command): void {
  const command = program
    .command('migrate')
    .description(
      'update the database tables; several servers do not update them by themselves, and can keep running meanwhile',
    )
    .action(async () => {
      const { migrateData } = await import('@phalanx/server');
      const made = await migrateData(parseServerConfig(settingsOf(command, dataSettings)));
      for (const name of made) console.log(name);
      console.log(made.length === 0 ? 'The tables are up to date.' : 'The tables are up to date now.');
    });
  addSettingFlags(command, dataSettings);
}

/** Returns `1 file`, `2 files` and so on. */
const countOf = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? '' : 's'}`;
