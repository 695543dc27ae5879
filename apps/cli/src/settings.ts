import { hostSettings } from '@phalanx/host';
import { serverSettings } from '@phalanx/server';

import { findToken } from './connection/given-token.ts';
import { usageError } from './exit-codes.ts';

/** Settings as they reach the programs: variables of the environment, and flags of the same names above them. */
export type Settings = Readonly<Record<string, string | undefined>>;

export interface SettingRow {
  readonly name: string;
  readonly default: string | null;
  readonly description: string;
}

export const simulatedPhonesSetting: SettingRow = {
  name: 'PHALANX_SIMULATED_PHONES',
  default: '0',
  description: 'How many simulated phones to add: 0 to 500.',
};

export const tokenFileSetting: SettingRow = {
  name: 'PHALANX_TOKEN_FILE',
  default: null,
  description: 'File with the API token, instead of PHALANX_TOKEN.',
};

const allSettings: readonly SettingRow[] = [
  ...serverSettings,
  ...hostSettings,
  simulatedPhonesSetting,
  tokenFileSetting,
];
const knownNames: ReadonlySet<string> = new Set(allSettings.map((setting) => setting.name));

/** A start that can't go on; the message is one line for the operator. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

/** `PHALANX_DATA_DIR` → `--data-dir`. */
export const flagOf = ({ name }: SettingRow): string =>
  `--${name.slice('PHALANX_'.length).toLowerCase().replaceAll('_', '-')}`;

/** A misspelt setting would be ignored silently; it stops the start instead. */
function refuseUnknown(env: Settings): void {
  const unknown = Object.keys(env).filter((name) => name.startsWith('PHALANX_') && !knownNames.has(name));
  if (unknown.length === 0) return;
  throw usageError(
    `Unknown setting ${unknown.join(', ')}. The settings are: ${[...knownNames].sort().join(', ')}.`,
  );
}

/** `flags` by the names of their settings. Throws a usage error for a `PHALANX_` variable that does not exist. */
export function mergeSettings(env: Settings, flags: Settings): Settings {
  refuseUnknown(env);
  const given = Object.entries(flags).filter(([, value]) => value !== undefined);
  return { ...env, ...Object.fromEntries(given) };
}

export function simulatedPhoneCount(settings: Settings): number {
  const text = settings[simulatedPhonesSetting.name] ?? '0';
  const count = /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN;
  if (count <= 500) return count;
  throw usageError(`${simulatedPhonesSetting.name} must be a whole number from 0 to 500; it is "${text}".`);
}

/** The settings with the token itself, also where they name a file that holds it. */
export function withToken(settings: Settings): Settings {
  const token = settings['PHALANX_TOKEN'];
  const tokenFile = settings[tokenFileSetting.name];
  if (token || !tokenFile) return settings;
  const found = findToken({ flags: {}, variables: { tokenFile } });
  return found === undefined ? settings : { ...settings, PHALANX_TOKEN: found };
}
