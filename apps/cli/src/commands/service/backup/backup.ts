import { backUp, dataSettings, parseServerConfig } from '@phalanx/server';
import type { Command } from 'commander';

import { CommandError, exitCodes } from '../../../exit-codes.ts';
import { notice } from '../../../output/notice.ts';
import { addSettingFlags, settingsOf } from '../../../setting-flags.ts';
import { countOf } from './count-of.ts';

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
