import type { Command } from 'commander';

export const addProjectOption = (command: Command): Command =>
  command.option('--project <project>', 'ID or name; by default the project of this folder');
