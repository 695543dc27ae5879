import { hostSettings } from '@phalanx/host';
import { serverSettings } from '@phalanx/server';
import {
  type Environment,
  parseSettings,
  type Setting,
  setting,
  shortText,
  unless,
  wholeNumber,
} from '@phalanx/settings';

import { tokenOfFile } from './connection/given-token.ts';
import { usageError } from './exit-codes.ts';

export const simulatedPhonesSetting = setting({
  name: 'PHALANX_SIMULATED_PHONES',
  default: '0',
  description: 'how many simulated phones to add, each with 1 MB of memory',
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

/** `PHALANX_DATA_DIR` → `--data-dir`. */
export const flagOf = ({ name }: Setting): string =>
  `--${name.slice('PHALANX_'.length).toLowerCase().replaceAll('_', '-')}`;

/** A misspelt setting would be ignored silently; it stops the start instead. */
function refuseUnknown(env: Environment): void {
  const unknown = Object.keys(env).filter((name) => name.startsWith('PHALANX_') && !knownNames.has(name));
  if (unknown.length === 0) return;
  throw usageError(
    `Unknown setting ${unknown.join(', ')}. The settings are: ${[...knownNames].sort().join(', ')}.`,
  );
}

/** `flags` by the names of their settings. Throws a usage error for a `PHALANX_` variable that does not exist. */
export function mergeSettings(env: Environment, flags: Environment): Environment {
  refuseUnknown(env);
  const given = Object.entries(flags).filter(([, value]) => value !== undefined);
  return { ...env, ...Object.fromEntries(given) };
}

export const simulatedPhoneCount = (env: Environment): number =>
  parseSettings({ count: simulatedPhonesSetting }, env).count;

/** The settings with the tokens themselves, also where they name files that hold them. */
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
