import { parseSettings, seconds, setting, wholeNumber, type Environment } from '@phalanx/settings';

const count = wholeNumber({ min: 1, max: 1_000_000_000 });
const megabytes = wholeNumber({ min: 1, max: 1_000_000_000, unit: 'MB' });

/** Limits of one user, phone, token or address; the defaults are beyond what honest use needs. */
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
    description: 'phones of a user; further phones are ignored',
    format: count,
  }),
  maxHosts: setting({
    name: 'PHALANX_MAX_HOSTS',
    default: '2000',
    description: 'hosts of a user',
    format: count,
  }),
  maxRuns: setting({
    name: 'PHALANX_MAX_RUNS',
    default: '20000',
    description: 'concurrent runs of a user',
    format: count,
  }),
  maxRunsPerDevice: setting({
    name: 'PHALANX_MAX_RUNS_PER_DEVICE',
    default: '20',
    description: 'concurrent runs on a phone',
    format: count,
  }),
  maxCaptureMb: setting({
    name: 'PHALANX_MAX_CAPTURE_MB',
    default: '102400',
    description: "storage for the captures of a user's hosts, and for the files of the runs there",
    format: megabytes,
  }),
  maxKeptLogMb: setting({
    name: 'PHALANX_MAX_KEPT_LOG_MB',
    default: '102400',
    description:
      "storage for the archived logs of a user's runs, compressed; beyond it the oldest are deleted",
    format: megabytes,
  }),
  maxWorkMb: setting({
    name: 'PHALANX_MAX_WORK_MB',
    default: '10240',
    description:
      'storage for the inputs, parameters, code and results of the jobs, schedules and launches of a user',
    format: megabytes,
  }),
  maxProjectMb: setting({
    name: 'PHALANX_MAX_PROJECT_MB',
    default: '20480',
    description: 'storage for the repositories of a user, including replaced content until git cleans up',
    format: megabytes,
  }),
  logKbPerSecond: setting({
    name: 'PHALANX_LOG_KB_PER_SECOND',
    default: '10240',
    description:
      "rate of log entries from the hosts of a user, with a burst of one second's worth; further entries wait at the hosts",
    format: wholeNumber({ min: 1, max: 100_000_000, unit: 'KB' }),
  }),
  framesPerSecond: setting({
    name: 'PHALANX_HOST_MESSAGES_PER_SECOND',
    default: '5000',
    description: "rate of messages from a host, with a burst of one second's worth",
    format: count,
  }),
  viewerMessagesPerSecond: setting({
    name: 'PHALANX_VIEWER_MESSAGES_PER_SECOND',
    default: '500',
    description:
      "rate of messages from the live views and walls of a user, of which one connection has a fifth, with a burst of one second's worth; further messages wait",
    format: count,
  }),
  requestsPerSecond: setting({
    name: 'PHALANX_REQUESTS_PER_SECOND',
    default: '5000',
    description:
      "rate of requests of a user, or of an address without a token, with a burst of one second's worth",
    format: count,
  }),
  badTokensPerMinute: setting({
    name: 'PHALANX_BAD_TOKENS_PER_MINUTE',
    default: '300',
    description: 'requests of an address with an invalid token',
    format: count,
  }),
  maxWaiting: setting({
    name: 'PHALANX_MAX_WAITING',
    default: '100',
    description: 'requests of a user that may wait for one kind of work, such as compiling',
    format: count,
  }),
  maxConnections: setting({
    name: 'PHALANX_MAX_CONNECTIONS',
    default: '10000',
    description: 'concurrent connections; at most three quarters of the files that the process may open',
    format: count,
  }),
  maxConnectionsPerAddress: setting({
    name: 'PHALANX_MAX_CONNECTIONS_PER_ADDRESS',
    default: '2000',
    description: 'concurrent connections of an address that is not a trusted proxy',
    format: count,
  }),
  idleMs: setting({
    name: 'PHALANX_IDLE_SECONDS',
    default: '180',
    description: 'how long a connection may be silent during a request or between two requests',
    format: seconds({ min: 1, max: 3600 }),
  }),
};

export type LimitConfig = ReturnType<typeof parseLimits>;

/** Throws a `SettingError` at the first setting that can't be used. */
export const parseLimits = (env: Environment) => parseSettings(limitSettings, env);
