import { checkData, dataSettings, parseServerConfig } from '@phalanx/server';
import type { Command } from 'commander';

import { CommandError, exitCodes } from '../../../exit-codes.ts';
import { addSettingFlags, settingsOf } from '../../../setting-flags.ts';
import { countOf } from './count-of.ts';

/** `phalanx check`: whether what lasts of the service is whole. */
export function addCheckCommand(program: Command): void {
  const command = program
    .command('check')
    .description('look whether the data of a service on this machine is whole, also while it runs')
    .action(async () => {
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
