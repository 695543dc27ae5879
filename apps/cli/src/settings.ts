import { hostSettings } from '@phalanx/host/config';
import { serverSettings } from '@phalanx/server/config';
import {
  type Environment,
  parseSettings,
  type Setting,
  setting,
  shortText,
  unless,
  wholeNumber,
  describeSetting,
  shownDefault,
} from '@phalanx/settings';
import { type Command, Option } from 'commander';

import { tokenOfFile } from './connection/connection.ts';
import { usageError } from './exit-codes.ts';
import { environment } from './config.ts';

export const simulatedPhonesSetting = setting({
  name: 'PHALANX_SIMULATED_PHONES',
  default: '0',
  description: 'number of simulated phones to add, each with 1 MB of memory',
  format: wholeNumber({ min: 0, max: 1000 }),
});

export const tokenFileSetting = setting({
  name: 'PHALANX_TOKEN_FILE',
  default: '',
  description: 'file with the API token, instead of PHALANX_TOKEN',
  format: unless('', shortText(4096)),
});

export const adminTokenFileSetting = setting({
  name: 'PHALANX_ADMIN_TOKEN_FILE',
  default: '',
  description: "file with the administrator's token, instead of PHALANX_ADMIN_TOKEN",
  format: unless('', shortText(4096)),
});

const allSettings = [
  ...serverSettings,
  ...hostSettings,
  simulatedPhonesSetting,
  tokenFileSetting,
  adminTokenFileSetting,
];
const knownNames: ReadonlySet<string> = new Set(allSettings.map(({ name }) => name));

/** `PHALANX_DATA_DIR` → `--data-dir`, `SCRCPY_SERVER_PATH` → `--scrcpy-server-path`. */
const flagOf = ({ name }: Setting): string =>
  `--${name
    .replace(/^PHALANX_/, '')
    .toLowerCase()
    .replaceAll('_', '-')}`;

/** Throws a usage error for an unknown setting. A misspelt one would otherwise be ignored silently. */
function refuseUnknown(env: Environment): void {
  const unknown = Object.keys(env).filter((name) => name.startsWith('PHALANX_') && !knownNames.has(name));
  if (unknown.length === 0) return;
  throw usageError(
    `Unknown setting ${unknown.join(', ')}. The settings are: ${[...knownNames].sort().join(', ')}.`,
  );
}

/** Merges `flags`, by setting name, over `env`. Throws a usage error for an unknown `PHALANX_` variable. */
function mergeSettings(env: Environment, flags: Environment): Environment {
  refuseUnknown(env);
  const given = Object.entries(flags).filter(([, value]) => value !== undefined);
  return { ...env, ...Object.fromEntries(given) };
}

export const simulatedPhoneCount = (env: Environment): number =>
  parseSettings({ count: simulatedPhonesSetting }, env).count;

/** Adds the tokens from the token files that the settings name. */
export function withTokens(settings: Environment): Environment {
  const files = parseSettings(
    { PHALANX_TOKEN: tokenFileSetting, PHALANX_ADMIN_TOKEN: adminTokenFileSetting },
    settings,
  );
  const tokens: Record<string, string> = {};
  for (const [name, file] of Object.entries(files)) {
    if (!settings[name] && file !== undefined) tokens[name] = tokenOfFile(file, `${name}_FILE`);
  }
  return { ...settings, ...tokens };
}

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

/** Merges the environment and the flags of a call. */
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
