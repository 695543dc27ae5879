import { hostname } from 'node:os';
import { resolve } from 'node:path';

import {
  addressList,
  addressOrOff,
  bearerToken,
  type HostSetting,
  httpUrl,
  oneOf,
  SettingError,
  type SettingParser,
  shortText,
  trueOrFalse,
  wholeNumber,
} from './setting.ts';

interface Row<Value> extends HostSetting {
  readonly parse: SettingParser<Value>;
}

const row = <Value>(settings: Row<Value>): Row<Value> => settings;

/** Every setting of the host: name, default, limits and unit. */
const rows = {
  serverUrl: row({
    name: 'PHALANX_SERVER_URL',
    default: 'http://127.0.0.1:8080',
    description: 'Address of the server that this host connects to.',
    parse: httpUrl,
  }),
  token: row({
    name: 'PHALANX_TOKEN',
    default: null,
    description: 'API token with the scope "host". The phones of this host belong to the user of the token.',
    parse: bearerToken,
  }),
  dataDir: row({
    name: 'PHALANX_DATA_DIR',
    default: './data',
    description: 'Folder with everything that lasts. The host keeps its files in the sub folder "host".',
    parse: (text) => resolve(text),
  }),
  hostName: row({
    name: 'PHALANX_HOST_NAME',
    default: hostname().slice(0, 200) || 'host',
    description: 'Name by which people recognise this machine. The default is its host name.',
    parse: shortText(200),
  }),
  adbServer: row({
    name: 'PHALANX_ADB_SERVER',
    default: '127.0.0.1:5037',
    description: 'Address of the ADB server that holds the USB phones, or "off".',
    parse: addressOrOff,
  }),
  phones: row({
    name: 'PHALANX_PHONES',
    default: '',
    description: 'Phones that are reached by TCP without an ADB server: host:port, separated by commas.',
    parse: addressList,
  }),
  allowPrivateFetch: row({
    name: 'PHALANX_ALLOW_PRIVATE_FETCH',
    default: 'false',
    description: 'Whether fetch() in automations may reach private and local addresses: true or false.',
    parse: trueOrFalse,
  }),
  runMemoryMb: row({
    name: 'PHALANX_RUN_MEMORY_MB',
    default: '128',
    description: 'Memory that the code of one run may use, in MB: 16 to 4096.',
    parse: wholeNumber({ min: 16, max: 4096, unit: 'MB' }),
  }),
  runCpuSeconds: row({
    name: 'PHALANX_RUN_CPU_SECONDS',
    default: '300',
    description: 'Processor time that one run may use, in seconds: 1 to 86400.',
    parse: wholeNumber({ min: 1, max: 86_400, unit: 'seconds' }),
  }),
  runTimeLimitSeconds: row({
    name: 'PHALANX_RUN_TIME_LIMIT_SECONDS',
    default: '3600',
    description: 'How long one run may last, in seconds: 1 to 604800 (a week).',
    parse: wholeNumber({ min: 1, max: 604_800, unit: 'seconds' }),
  }),
  warmSandboxes: row({
    name: 'PHALANX_WARM_SANDBOXES',
    default: '2',
    description: 'Sandbox processes kept ready for the next runs: 0 to 64.',
    parse: wholeNumber({ min: 0, max: 64, unit: 'processes' }),
  }),
  logLevel: row({
    name: 'PHALANX_LOG_LEVEL',
    default: 'info',
    description: "Least level of this program's own log: debug, info, warn, error or silent.",
    parse: oneOf(['debug', 'info', 'warn', 'error', 'silent']),
  }),
} as const;

type Rows = typeof rows;

/** The host's settings, parsed once and frozen. */
export type HostConfig = { readonly [Key in keyof Rows]: ReturnType<Rows[Key]['parse']> };

/** For help texts, documentation, and the check for unknown variables. */
export const hostSettings: readonly HostSetting[] = Object.values(rows).map(
  ({ name, default: fallback, description }) => Object.freeze({ name, default: fallback, description }),
);

type Environment = Record<string, string | undefined>;

/** Throws a `SettingError` at the first missing or bad value. An empty variable counts as not set. */
export function parseHostConfig(env: Environment = process.env): HostConfig {
  const value = <Value>(setting: Row<Value>): Value => setting.parse(textOf(env, setting), setting.name);
  return Object.freeze({
    serverUrl: value(rows.serverUrl),
    token: value(rows.token),
    dataDir: value(rows.dataDir),
    hostName: value(rows.hostName),
    adbServer: value(rows.adbServer),
    phones: value(rows.phones),
    allowPrivateFetch: value(rows.allowPrivateFetch),
    runMemoryMb: value(rows.runMemoryMb),
    runCpuSeconds: value(rows.runCpuSeconds),
    runTimeLimitSeconds: value(rows.runTimeLimitSeconds),
    warmSandboxes: value(rows.warmSandboxes),
    logLevel: value(rows.logLevel),
  });
}

function textOf(env: Environment, setting: HostSetting): string {
  const text = env[setting.name]?.trim() || setting.default;
  if (text !== null) return text;
  throw new SettingError(setting.name, 'is not set: make a token with the scope "host" and give it here.');
}
