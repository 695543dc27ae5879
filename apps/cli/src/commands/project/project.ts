import type { Command } from 'commander';

import { addCloneCommands } from './clone.ts';
import { addHistoryCommands } from './history.ts';
import { addPullCommand } from './pull.ts';
import { addPushCommand } from './push.ts';
import { addRegisterCommands } from './register.ts';
import { addShareCommands } from './share.ts';

/** `phalanx project …` */
export function addProjectCommands(program: Command): void {
  const project = program
    .command('project')
    .description('create, edit, share and version projects')
    .addHelpText(
      'after',
      `
A folder belongs to a project by its .phalanx/project.json. "push" saves the folder's changed files on the server, where
they run at once; "commit" makes a version of what is saved. Git works on the same project: "project clone --git" says
how, "git push" makes commits, and what was pushed here and not committed is in no clone.

Example:
  phalanx project create checkout && cd checkout
  phalanx project push && phalanx project commit -m "First version"
  phalanx run --device SIM0001 --follow`,
    );
  addRegisterCommands(project);
  addCloneCommands(project);
  addPullCommand(project);
  addPushCommand(project);
  addHistoryCommands(project);
  addShareCommands(project);
}
