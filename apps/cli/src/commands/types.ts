import path from 'node:path';
import type { Command } from 'commander';

import { findLinkedFolder } from '../project/link.ts';
import { writeTypes } from '../types/write-types.ts';

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
agent.arguments.automationParameters is made from parameters.schema.json. "project clone" and "project pull" do the same.

Example: phalanx types && npx tsc`,
    )
    .action(async (folder: string | undefined) => {
      const root = folder ?? (await findLinkedFolder())?.root ?? '.';
      const files = await writeTypes(path.resolve(root));
      console.log(`${files.length} files were written below ${path.resolve(root)}.`);
    });
}
