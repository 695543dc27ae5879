import { describeSetting, type Environment, type Setting, shownDefault } from '@phalanx/settings';
import { type Command, Option } from 'commander';

import { environment } from './config.ts';
import { flagOf, mergeSettings } from './settings.ts';

/** Gives `command` a flag for each setting. */
export function addSettingFlags(
  command: Command,
  rows: readonly Setting[],
  groupOf: (row: Setting) => string = () => 'Options:',
): Command {
  for (const row of uniqueByName(rows)) {
    const fallback = shownDefault(row) === '' ? '' : `; default: ${shownDefault(row)}`;
    const option = new Option(`${flagOf(row)} <value>`, `${describeSetting(row)}${fallback} (${row.name})`);
    command.addOption(option.helpGroup(groupOf(row)));
  }
  return command;
}

/** What the environment and the flags of a call say. */
export function settingsOf(command: Command, rows: readonly Setting[]): Environment {
  const options: Record<string, unknown> = command.opts();
  const flags: Record<string, string | undefined> = {};
  for (const row of rows) {
    const value = options[new Option(flagOf(row)).attributeName()];
    if (typeof value === 'string') flags[row.name] = value;
  }
  return mergeSettings(environment, flags);
}

function uniqueByName(rows: readonly Setting[]): Setting[] {
  return [...new Map(rows.map((row) => [row.name, row])).values()];
}
