import { type Command, Option } from 'commander';

import { environment } from './config.ts';
import { flagOf, mergeSettings, type SettingRow, type Settings } from './settings.ts';

/** Gives `command` a flag for each setting. */
export function addSettingFlags(command: Command, rows: readonly SettingRow[]): Command {
  for (const row of uniqueByName(rows)) {
    const fallback = row.default === null || row.default === '' ? '' : ` Default: ${row.default}.`;
    command.addOption(new Option(`${flagOf(row)} <value>`, `${row.description}${fallback} (${row.name})`));
  }
  return command;
}

/** What the environment and the flags of a call say. */
export function settingsOf(command: Command, rows: readonly SettingRow[]): Settings {
  const options: Record<string, unknown> = command.opts();
  const flags: Record<string, string | undefined> = {};
  for (const row of rows) {
    const value = options[new Option(flagOf(row)).attributeName()];
    if (typeof value === 'string') flags[row.name] = value;
  }
  return mergeSettings(environment, flags);
}

function uniqueByName(rows: readonly SettingRow[]): SettingRow[] {
  return [...new Map(rows.map((row) => [row.name, row])).values()];
}
