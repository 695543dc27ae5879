import { parseSettings, seconds, setting, wholeNumber, type Environment } from '@phalanx/settings';

const count = wholeNumber({ min: 1, max: 1_000_000_000 });
const megabytes = wholeNumber({ min: 1, max: 1_000_000_000, unit: 'MB' });

/** What one user, phone, token or address may take of the service; the defaults are beyond what honest use needs. */
export const limitSettings = {
  maxProjects: setting({
    name: 'PHALANX_MAX_PROJECTS',
    default: '1000',
    description: 'projects that a user may own',
    format: count,
  }),
  maxTokens: setting({
    name: 'PHALANX_MAX_TOKENS',
    default: '1000',
    description: 'tokens that a user may have',
    format: count,
  }),
  maxDevices: setting({
    name: 'PHALANX_MAX_DEVICES',
    default: '5000',
    description: 'phones of a user that are known; phones beyond are left out',
    format: count,
  }),
  maxHosts: setting({
    name: 'PHALANX_MAX_HOSTS',
    default: '2000',
    description: 'hosts of a user that are known',
    format: count,
  }),
  maxRuns: setting({
    name: 'PHALANX_MAX_RUNS',
    default: '20000',
    description: 'runs of a user at once',
    format: count,
  }),
  maxRunsPerDevice: setting({
    name: 'PHALANX_MAX_RUNS_PER_DEVICE',
    default: '20',
    description: 'runs on a phone at once',
    format: count,
  }),
  maxCaptureMb: setting({
    name: 'PHALANX_MAX_CAPTURE_MB',
    default: '102400',
    description: 'captures that are kept of the hosts of a user',
    format: megabytes,
  }),
  maxKeptLogMb: setting({
    name: 'PHALANX_MAX_KEPT_LOG_MB',
    default: '102400',
    description:
      'logs that are kept of the runs of a user, compressed; beyond it those of the oldest runs go',
    format: megabytes,
  }),
  maxProjectMb: setting({
    name: 'PHALANX_MAX_PROJECT_MB',
    default: '20480',
    description: 'repositories that a user owns, with content that was replaced since git tidied up',
    format: megabytes,
  }),
  logKbPerSecond: setting({
    name: 'PHALANX_LOG_KB_PER_SECOND',
    default: '10240',
    description:
      "log entries that are taken from the hosts of a user, after a minute's worth at once; what is beyond waits at the hosts",
    format: wholeNumber({ min: 1, max: 100_000_000, unit: 'KB' }),
  }),
  framesPerSecond: setting({
    name: 'PHALANX_HOST_MESSAGES_PER_SECOND',
    default: '5000',
    description: "messages that are read of a host, after a minute's worth at once",
    format: count,
  }),
  requestsPerSecond: setting({
    name: 'PHALANX_REQUESTS_PER_SECOND',
    default: '5000',
    description: "requests of a user, or of an address without a token, after a minute's worth at once",
    format: count,
  }),
  badTokensPerMinute: setting({
    name: 'PHALANX_BAD_TOKENS_PER_MINUTE',
    default: '300',
    description: 'requests of an address with a token that is not valid',
    format: count,
  }),
  maxWaiting: setting({
    name: 'PHALANX_MAX_WAITING',
    default: '100',
    description: 'requests of a user that wait for one kind of work, such as compiling',
    format: count,
  }),
  maxConnections: setting({
    name: 'PHALANX_MAX_CONNECTIONS',
    default: '10000',
    description: 'connections at once; never more than three quarters of the files that the process may open',
    format: count,
  }),
  maxConnectionsPerAddress: setting({
    name: 'PHALANX_MAX_CONNECTIONS_PER_ADDRESS',
    default: '2000',
    description: 'connections of an address that is no trusted proxy',
    format: count,
  }),
  idleMs: setting({
    name: 'PHALANX_IDLE_SECONDS',
    default: '180',
    description: 'how long a connection may be silent in the middle of a request, or between two',
    format: seconds({ min: 1, max: 3600 }),
  }),
};

export type LimitConfig = ReturnType<typeof parseLimits>;

/** Throws a `SettingError` at the first setting that can't be used. */
export const parseLimits = (env: Environment) => parseSettings(limitSettings, env);
