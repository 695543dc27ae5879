import { hostname } from 'node:os';
import path from 'node:path';
import {
  address,
  databaseUrl,
  dataDir,
  type Environment,
  folder,
  httpUrl,
  logFormat,
  logLevel,
  natsUrls,
  parseSettings,
  requireConfinement,
  seconds,
  secret,
  type Setting,
  SettingError,
  setting,
  shortText,
  unless,
  wholeNumber,
} from '@phalanx/settings';
import { proxyList } from './http/requests/trusted-proxies.ts';
import { mailSettings, parseMail } from './work/webhooks/mail/mail-settings.ts';
import { networkList } from './work/webhooks/target-rule.ts';
import { limitSettings, parseLimits } from './kernel/limits/limit-settings.ts';
import { parseS3, s3Settings } from './storage/blobs/s3/s3-settings.ts';

const rows = {
  secretsKeyFile: setting({
    name: 'PHALANX_SECRETS_KEY_FILE',
    default: '',
    defaultText: '`secrets.key` in the data folder, made with the first secret',
    description:
      'file with the keys that encrypt secrets, 64 hexadecimal digits a line; the first one encrypts',
    format: unless('', folder),
  }),
  listen: setting({
    name: 'PHALANX_LISTEN',
    default: '127.0.0.1:8080',
    description: 'address of the API',
    format: address,
  }),
  dataDir,
  databaseUrl: setting({
    name: 'PHALANX_DATABASE_URL',
    default: '',
    defaultText: 'SQLite, in the data folder',
    description: 'PostgreSQL database, such as postgres://user:password@host/phalanx',
    format: unless('', databaseUrl),
  }),
  natsUrls: setting({
    name: 'PHALANX_NATS_URL',
    default: '',
    defaultText: 'one server alone',
    description: 'NATS server that connects the servers of a cluster, such as nats://user:password@host:4222',
    format: unless('', natsUrls),
  }),
  nodeName: setting({
    name: 'PHALANX_NODE_NAME',
    default: hostname(),
    defaultText: "the machine's name",
    description: "name of this server in the cluster's logs and metrics",
    format: shortText(100),
  }),
  adminToken: setting({
    name: 'PHALANX_ADMIN_TOKEN',
    default: '',
    defaultText: 'made and printed once',
    description: "the administrator's token, at least 32 characters",
    format: unless('', secret({ min: 32, max: 500 })),
  }),
  logLevel,
  logFormat,
  requireConfinement,
  lostAfterMs: setting({
    name: 'PHALANX_LOST_AFTER_SECONDS',
    default: '120',
    description: 'how long a host may be away before its runs are lost',
    format: seconds({ min: 1, max: 86_400 }),
  }),
  historyDays: setting({
    name: 'PHALANX_HISTORY_DAYS',
    default: '30',
    description: 'how long ended runs, and so the launch IDs, are kept',
    format: wholeNumber({ min: 1, max: 3650, unit: 'days' }),
  }),
  auditDays: setting({
    name: 'PHALANX_AUDIT_DAYS',
    default: '365',
    description: 'how long audit events are kept',
    format: wholeNumber({ min: 1, max: 36_500, unit: 'days' }),
  }),
  runLogMb: setting({
    name: 'PHALANX_RUN_LOG_MB',
    default: '4',
    description: 'largest log per run, compressed; longer logs keep their beginning and end',
    format: wholeNumber({ min: 1, max: 1024, unit: 'MB' }),
  }),
  publicUrl: setting({
    name: 'PHALANX_PUBLIC_URL',
    default: '',
    defaultText: 'the listening address',
    description: 'address of the console for browsers, such as https://phones.example.com',
    format: unless('', httpUrl),
  }),
  fileUrl: setting({
    name: 'PHALANX_FILE_URL',
    default: '',
    defaultText: 'PHALANX_PUBLIC_URL',
    description: 'public base of the addresses of captures, such as https://phones.example.com',
    format: unless('', httpUrl),
  }),
  trustProxy: setting({
    name: 'PHALANX_TRUSTED_PROXIES',
    default: 'loopback',
    description: 'proxies whose `X-Forwarded-For` header is trusted',
    format: proxyList,
  }),
  webhookNetworks: setting({
    name: 'PHALANX_WEBHOOK_NETWORKS',
    default: 'none',
    description: 'destinations that webhooks may reach in addition to the public internet',
    format: networkList,
  }),
  recordsKept: setting({
    name: 'PHALANX_RECORDS_KEPT',
    default: '1000',
    description: 'out-of-steps records kept for each automation, besides its 200 debug records for each tag',
    format: wholeNumber({ min: 1, max: 100_000_000 }),
  }),
};

export type ServerConfig = ReturnType<typeof parseServerConfig>;

export const serverSettings: readonly Setting[] = [
  ...Object.values(rows),
  ...Object.values(mailSettings),
  ...Object.values(s3Settings),
  ...Object.values(limitSettings),
];

/** Settings that say where the data is. */
export const dataSettings: readonly Setting[] = [
  rows.dataDir,
  rows.databaseUrl,
  ...Object.values(s3Settings),
];

/** Throws a `SettingError` at the first setting that can't be used. */
export function parseServerConfig(env: Environment = process.env) {
  const settings = parseSettings(rows, env);
  const s3 = parseS3(env);
  if (settings.natsUrls !== undefined) requireShared({ ...settings, s3 });
  return Object.freeze({
    ...settings,
    limits: parseLimits(env),
    /** Undefined: no e-mail is sent. */
    mail: parseMail(env),
    s3,
    secretsKeyFile: settings.secretsKeyFile ?? path.join(settings.dataDir, 'secrets.key'),
    /** URL without a slash at its end. */
    fileUrl: (settings.fileUrl ?? settings.publicUrl)?.href.replace(/\/+$/, ''),
    /** PATH in which programs such as git are looked for. */
    searchPath: env['PATH'] ?? process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
  });
}

/** Requires the settings that several servers have to have in common. */
function requireShared(given: {
  databaseUrl: string | undefined;
  s3: object | undefined;
  fileUrl: URL | undefined;
  publicUrl: URL | undefined;
}): void {
  const missing = [
    given.databaseUrl === undefined ? rows.databaseUrl.name : [],
    given.s3 === undefined ? s3Settings.endpoint.name : [],
    given.fileUrl === undefined && given.publicUrl === undefined ? rows.publicUrl.name : [],
  ].flat();
  if (missing.length === 0) return;
  throw new SettingError(
    `${rows.natsUrls.name} is set, so that several servers work together: give all of them ${missing.join(', ')} too.`,
  );
}
