/** The server's settings: each with its default, its unit, its limits, and one line of what it is for. */

export interface ServerConfig {
  readonly listen: { readonly host: string; readonly port: number };
  readonly dataDir: string;
  readonly adminToken: string | undefined;
  readonly logLevel: string;
  /** How long a host may be away before its runs are lost. */
  readonly lostAfterMs: number;
  readonly historyDays: number;
  /** Public base of capture URLs, without a slash at its end; undefined: the listening address. */
  readonly fileUrl: string | undefined;
  /** Out-of-steps records, other than `debug`, that an automation keeps. */
  readonly recordsKept: number;
  /** Where programs such as git are looked for: the PATH of the process. */
  readonly searchPath: string;
}

/** A setting that can't be used; the message is one line for the operator. */
export class SettingError extends Error {
  override readonly name = 'SettingError';
}

interface ServerSetting {
  readonly name: string;
  /** `null`: none. */
  readonly default: string | null;
  readonly description: string;
}

const rows = {
  listen: {
    name: 'PHALANX_LISTEN',
    default: '127.0.0.1:8080',
    description: 'Address of the API and the console.',
  },
  dataDir: {
    name: 'PHALANX_DATA_DIR',
    default: './data',
    description: 'The one folder with everything that lasts.',
  },
  adminToken: {
    name: 'PHALANX_ADMIN_TOKEN',
    default: null,
    description:
      'The administrator’s token, at least 32 characters. Without it one is made and printed once.',
  },
  logLevel: {
    name: 'PHALANX_LOG_LEVEL',
    default: 'info',
    description: "Least level of this program's own log: debug, info, warn, error or silent.",
  },
  lostAfter: {
    name: 'PHALANX_LOST_AFTER_SECONDS',
    default: '120',
    description: 'How long a host may be away before its runs count as lost, in seconds: 1 to 86400.',
  },
  historyDays: {
    name: 'PHALANX_HISTORY_DAYS',
    default: '30',
    description: 'How long ended runs are kept, in days: 1 to 3650.',
  },
  fileUrl: {
    name: 'PHALANX_FILE_URL',
    default: null,
    description:
      'Public base of the addresses of captures, such as https://phones.example. Without it, the listening address.',
  },
  recordsKept: {
    name: 'PHALANX_RECORDS_KEPT',
    default: '1000',
    description:
      'How many out-of-steps records an automation keeps, beside debug records, of which it keeps 200 a tag: 1 to 100000000.',
  },
} as const satisfies Record<string, ServerSetting>;

/** For help texts, documentation, and the check for unknown variables. */
export const serverSettings: readonly ServerSetting[] = Object.values(rows);

/** Settings of the plan that this release does not have yet: better refused than ignored. */
const notYet = [
  'PHALANX_DATABASE_URL',
  'PHALANX_NATS_URL',
  'PHALANX_CAPTURES_URL',
  'PHALANX_PROJECTS_DIR',
] as const;

type Environment = Readonly<Record<string, string | undefined>>;
const textOf = (env: Environment, setting: ServerSetting): string =>
  env[setting.name]?.trim() || (setting.default ?? '');

function parseListen(text: string): { host: string; port: number } {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  const host = match?.[1] ?? match?.[2];
  if (host === undefined || port > 65_535) {
    throw new SettingError(
      `PHALANX_LISTEN must be host:port, such as 127.0.0.1:8080 or [::1]:8080; it is "${text}"`,
    );
  }
  return { host, port };
}

function parseAdminToken(text: string): string | undefined {
  if (text === '') return undefined;
  if (/^[\x21-\x7e]{32,500}$/.test(text)) return text;
  throw new SettingError('PHALANX_ADMIN_TOKEN must have 32 to 500 printable ASCII characters and no spaces');
}

function parseFileUrl(text: string): string | undefined {
  if (text === '') return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain =
    url !== undefined &&
    ['http:', 'https:'].includes(url.protocol) &&
    !/[?#]/.test(text) &&
    !url.username &&
    !url.password;
  if (isPlain) return url.href.replace(/\/+$/, '');
  throw new SettingError(
    `PHALANX_FILE_URL must be an http or https address without user, query or fragment, such as https://phones.example; it is "${text}"`,
  );
}

function parseWholeNumber(
  env: Environment,
  setting: ServerSetting,
  limits: { least: number; most: number },
): number {
  const text = textOf(env, setting);
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= limits.least && value <= limits.most) return value;
  throw new SettingError(
    `${setting.name} must be a whole number from ${limits.least} to ${limits.most}; it is "${text}"`,
  );
}

function parseLogLevel(text: string): string {
  const levels = ['debug', 'info', 'warn', 'error', 'silent'];
  if (levels.includes(text)) return text;
  throw new SettingError(`PHALANX_LOG_LEVEL must be one of ${levels.join(', ')}; it is "${text}"`);
}

/** Throws a `SettingError` at the first setting that can't be used. */
export function parseServerConfig(env: Environment = process.env): ServerConfig {
  for (const name of notYet) {
    if (env[name]) throw new SettingError(`${name} is not available in this release: unset it`);
  }
  return Object.freeze({
    listen: Object.freeze(parseListen(textOf(env, rows.listen))),
    dataDir: textOf(env, rows.dataDir),
    adminToken: parseAdminToken(textOf(env, rows.adminToken)),
    logLevel: parseLogLevel(textOf(env, rows.logLevel)),
    lostAfterMs: 1000 * parseWholeNumber(env, rows.lostAfter, { least: 1, most: 86_400 }),
    historyDays: parseWholeNumber(env, rows.historyDays, { least: 1, most: 3650 }),
    fileUrl: parseFileUrl(textOf(env, rows.fileUrl)),
    recordsKept: parseWholeNumber(env, rows.recordsKept, { least: 1, most: 100_000_000 }),
    searchPath: env['PATH'] ?? process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
  });
}
