import type { ErrorCode, LimitName, UsageRow } from '@phalanx/protocol';

import type { limitSettings } from './limit-settings.ts';

type LimitSettingKey = keyof typeof limitSettings;

export interface LimitRow {
  readonly key: LimitSettingKey;
  /** What a refusal says; null: nothing is refused with an answer, it is left out, waits, or its connection ends. */
  readonly code: ErrorCode | null;
  /** One of the setting is so many of what is counted. */
  readonly unitSize: number;
}

const megabyte = 1024 * 1024;
const row = (key: LimitSettingKey, code: ErrorCode | null, unitSize = 1): LimitRow => ({
  key,
  code,
  unitSize,
});

/** Every limit of what one user, phone, token or address may take. */
export const limitTable: Readonly<Record<LimitName, LimitRow>> = {
  projects: row('maxProjects', 'too_many_projects'),
  project_bytes: row('maxProjectMb', 'project_bytes_exceeded', megabyte),
  capture_bytes: row('maxCaptureMb', 'capture_bytes_exceeded', megabyte),
  kept_log_bytes: row('maxKeptLogMb', null, megabyte),
  tokens: row('maxTokens', 'too_many_tokens'),
  devices: row('maxDevices', null),
  hosts: row('maxHosts', null),
  runs: row('maxRuns', 'too_many_runs'),
  device_runs: row('maxRunsPerDevice', 'too_many_device_runs'),
  log_bytes: row('logKbPerSecond', null, 1024),
  host_messages: row('framesPerSecond', null),
  requests: row('requestsPerSecond', 'too_many_requests'),
  bad_tokens: row('badTokensPerMinute', 'too_many_bad_tokens'),
  waiting: row('maxWaiting', 'too_many_waiting'),
  patience: row('maxWaiting', 'too_busy'),
  connections: row('maxConnections', 'too_many_connections'),
  address_connections: row('maxConnectionsPerAddress', 'too_many_connections'),
};

/** Those that are a user's own, as they are shown. */
export const shownLimits: ReadonlyMap<LimitName, Pick<UsageRow, 'per' | 'unit'>> = new Map([
  ['projects', { per: 'user', unit: 'count' }],
  ['project_bytes', { per: 'user', unit: 'bytes' }],
  ['capture_bytes', { per: 'user', unit: 'bytes' }],
  ['kept_log_bytes', { per: 'user', unit: 'bytes' }],
  ['tokens', { per: 'user', unit: 'count' }],
  ['hosts', { per: 'user', unit: 'count' }],
  ['devices', { per: 'user', unit: 'count' }],
  ['runs', { per: 'user', unit: 'count' }],
  ['device_runs', { per: 'device', unit: 'count' }],
  ['log_bytes', { per: 'minute', unit: 'bytes' }],
  ['host_messages', { per: 'host', unit: 'count' }],
  ['requests', { per: 'minute', unit: 'count' }],
  ['waiting', { per: 'user', unit: 'count' }],
]);
