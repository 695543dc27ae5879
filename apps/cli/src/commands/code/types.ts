import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';

import { usageError } from '../../exit-codes.ts';
import { findLinkedFolder } from '../../project/project-folder.ts';
import { writeTypes } from '../../project/types/write-types.ts';

/** `phalanx types` */
export function addTypesCommand(program: Command): void {
  program
    .command('types')
    .description('write the types of the global "agent" and of your parameters for your editor')
    .argument('[folder]', 'by default the project folder that you are in, or this one')
    .addHelpText(
      'after',
      `
The types go to .phalanx/types, which a push leaves out; a tsconfig.json is written if there is none. The type of
agent.arguments.automationParameters is made from parameters.schema.json. "project create", "clone" and "pull" do the same.
Alone, "npx tsc" would get another npm package.

Example: phalanx types && npx --package typescript@7 tsc`,
    )
    .action(async (folder: string | undefined) => {
      const root = folder ?? (await findLinkedFolder())?.root ?? '.';
      const place = path.resolve(root);
      const isFolder = await stat(place).then(
        (found) => found.isDirectory(),
        () => false,
      );
      if (!isFolder) throw usageError(`${place} is no folder: name the one with your code.`);
      const files = await writeTypes(place);
      console.log(`${files.length} files were written below ${place}.`);
    });
}
