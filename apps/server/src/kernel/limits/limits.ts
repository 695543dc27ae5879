import type { ErrorCode, LimitName, UsageRow } from '@phalanx/protocol';
import { boundedCache } from '../bounded-cache.ts';
import { ApiError } from '../errors/api-error.ts';
import { RateLimiter } from './rate-limiter.ts';
import { type LimitConfig, limitSettings } from './limit-settings.ts';
import { Turns } from './turns.ts';
import { RequestsUnderWay } from './requests-under-way.ts';

/** Reads the usage of a user. Its cost must not grow with what is stored. */
type ReadUsed = (userId: string) => number | Promise<number>;

/** Values for the message of a refusal. */
interface RefusalDetails {
  seconds?: number;
  work?: string;
  devices?: string;
}

const minuteS = 60;
/** Number of sockets at full rate that exhaust the rate of their user. */
const viewerShares = 5;
/** Limits of what is stored. */
type StoredLimit = 'capture_bytes' | 'project_bytes' | 'work_bytes';
/** Maximum number of users whose refusals are remembered. */
const maxRemembered = 10_000;

/** Checks every limit of a user, phone, token or address, and makes the refusals. */
export class Limits {
  /** Fair queues of the work that users share. */
  readonly turns: Readonly<
    Record<
      | 'compile'
      | 'git'
      | 'bodies'
      | 'reading'
      | 'parameters'
      | 'launches'
      | 'lists'
      | 'searches'
      | 'screens'
      | 'records',
      Turns
    >
  >;
  /** Requests, by user, or by address when there is no token. */
  readonly requests: RateLimiter;
  /** Requests with an invalid token, by address. */
  readonly badTokens: RateLimiter;
  /** Bytes of log entries, by user. */
  readonly logs: RateLimiter;
  readonly requestsUnderWay = new RequestsUnderWay();
  /** Frames, by connection of a host. */
  readonly frames: RateLimiter;
  /** Messages of viewers, by user and by socket. */
  readonly #viewerMessages: Readonly<Record<'ofUser' | 'ofSocket', RateLimiter>>;
  readonly #config: LimitConfig;
  readonly #used = new Map<LimitName, ReadUsed>();
  /** Amount reserved for writes in progress, by limit and user. */
  readonly #kept = new Map<string, number>();
  readonly #refusals = new Map<LimitName, number>();
  readonly #refusalsOf = boundedCache<Map<LimitName, number>>(maxRemembered);

  constructor(config: LimitConfig) {
    this.#config = config;
    const aSecond = (name: LimitName, share = 1): RateLimiter =>
      new RateLimiter({ perSecond: this.limitOf(name) * share, burstSeconds: 1 });
    this.requests = aSecond('requests');
    this.logs = aSecond('log_bytes');
    this.frames = aSecond('host_messages');
    this.#viewerMessages = {
      ofUser: aSecond('viewer_messages'),
      ofSocket: aSecond('viewer_messages', 1 / viewerShares),
    };
    // A burst of a minute: a page or a program with a revoked token sends many requests at once, and each should be told
    // why it is refused. It costs less than a second's worth of requests.
    const perSecond = this.limitOf('bad_tokens') / minuteS;
    this.badTokens = new RateLimiter({ perSecond, burstSeconds: minuteS });
    this.registerUsage('requests', (userId) =>
      Math.round(this.requests.share(userId) * this.limitOf('requests')),
    );
    const turns = (
      work: string,
      [places, placesPerUser]: readonly [number, number],
      timeoutMs: number,
      limit: 'waiting' | 'runs' = 'waiting',
    ): Turns =>
      new Turns({
        places,
        placesPerUser,
        timeoutMs,
        maxWaiting: this.limitOf(limit),
        tooMany: (userId) => this.refusal(limit, userId, { seconds: 5, work }),
        tooLong: (userId) => this.refusal('waiting_time', userId, { seconds: 5, work }),
      });
    this.turns = {
      // One place for each compile process.
      compile: turns('compiling', [3, 2], 90_000),
      git: turns('git', [32, 8], 60_000),
      // A place is held from before the body is read until its request is answered.
      bodies: turns('large bodies', [16, 4], 120_000),
      // Reading a body takes up to a gigabyte of memory for a second.
      reading: turns('reading large bodies', [2, 1], 120_000),
      // One place for each process; one user holds one of them.
      parameters: turns('checking parameters', [3, 1], 30_000),
      // Storing and sending a launch is short, so as many may wait as a user may have runs.
      launches: turns('launching', [4, 2], 30_000, 'runs'),
      // Lists work on the event loop, which they yield every few milliseconds.
      lists: turns('lists', [64, 2], 30_000),
      searches: turns('log searches', [16, 1], 60_000),
      screens: turns('screens', [16, 1], 30_000),
      // Counting a list takes the only reader of SQLite, or one of ten connections of PostgreSQL.
      records: turns('counting records', [4, 2], 30_000),
    };
  }

  /** Returns the limit in the unit that is counted: bytes, not megabytes. */
  limitOf(name: LimitName): number {
    const { key, unitSize } = limitTable[name];
    return this.#config[key] * unitSize;
  }

  /** Registers how to read the usage of a user. */
  registerUsage(name: LimitName, read: ReadUsed): void {
    this.#used.set(name, read);
  }

  /** Counts a refusal, and returns its error; `userId` is null if the caller is unknown. */
  refusal(name: LimitName, userId: string | null, details: RefusalDetails = {}): ApiError {
    this.note(name, userId);
    const { code } = limitTable[name];
    if (code === null) throw new Error(`${name} is not refused with an answer`);
    const { seconds = 1, work = '', devices = '' } = details;
    return refuse(code, { limit: this.limitOf(name), seconds: Math.ceil(seconds), work, devices });
  }

  /** Counts a refusal at the limit. */
  note(name: LimitName, userId: string | null): void {
    this.#refusals.set(name, (this.#refusals.get(name) ?? 0) + 1);
    if (userId === null) return;
    const own = this.#refusalsOf.get(userId) ?? new Map<LimitName, number>();
    this.#refusalsOf.set(userId, own.set(name, (own.get(name) ?? 0) + 1));
  }

  /** Throws if `used` plus `more` exceeds the limit. */
  require(name: LimitName, userId: string, used: number, more = 1): void {
    if (used + more > this.limitOf(name)) throw this.refusal(name, userId);
  }

  /**
   * Reserves room for what is about to be stored, so that concurrent requests can't exceed the limit together. Throws
   * when there is none. Call the result when it is counted, or will not be stored.
   */
  async keepRoom(name: StoredLimit, userId: string, more: number): Promise<() => void> {
    const key = `${name} ${userId}`;
    const keep = (change: number): void => {
      const kept = (this.#kept.get(key) ?? 0) + change;
      if (kept > 0) this.#kept.set(key, kept);
      else this.#kept.delete(key);
    };
    keep(more);
    try {
      const used = (await this.#used.get(name)?.(userId)) ?? 0;
      this.require(name, userId, used, this.#kept.get(key));
      return () => keep(-more);
    } catch (error) {
      keep(-more);
      throw error;
    }
  }

  /** Runs `store` with room reserved for its bytes. Throws when there is none. */
  async withRoom<Result>(
    name: StoredLimit,
    { userId, bytes }: { userId: string; bytes: number },
    store: () => Promise<Result>,
  ): Promise<Result> {
    const release = await this.keepRoom(name, userId, bytes);
    try {
      return await store();
    } finally {
      release();
    }
  }

  /** Throws when the rate limit is used up. */
  spend(name: 'requests' | 'bad_tokens', key: string, userId: string | null = null): void {
    const limiter = name === 'requests' ? this.requests : this.badTokens;
    const waitMs = limiter.spend(key);
    if (waitMs > 0) throw this.refusal(name, userId, { seconds: waitMs / 1000 });
  }

  /** Returns 0 when a message of a viewer was spent, or else after how many milliseconds it may be read. */
  spendViewerMessage(userId: string, socket: string): number {
    const { ofUser, ofSocket } = this.#viewerMessages;
    const waitMs = ofSocket.spend(socket) || ofUser.spend(userId);
    if (waitMs > 0) this.note('viewer_messages', userId);
    return waitMs;
  }

  get refusals(): ReadonlyMap<LimitName, number> {
    return this.#refusals;
  }

  /** Reads the usage of a user for each limit, in the order of `shownLimits`. */
  async usageOf(userId: string): Promise<UsageRow[]> {
    const refused = this.#refusalsOf.get(userId);
    const rows: UsageRow[] = [];
    for (const [limit, { per, unit }] of shownLimits) {
      const { key, code } = limitTable[limit];
      const read = this.#used.get(limit);
      rows.push({
        limit,
        used: read === undefined ? null : await read(userId),
        most: this.limitOf(limit),
        unit,
        per,
        setting: limitSettings[key].name,
        code,
        refused: refused?.get(limit) ?? 0,
      });
    }
    return rows;
  }
}

function refuse(code: ErrorCode, details: Record<'limit' | 'seconds', number> & RefusalDetails): ApiError {
  // The details of all limits; the message takes its own of them.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return ApiError.of(code, details as never, { retryAfterS: details.seconds });
}

type LimitSettingKey = keyof typeof limitSettings;

interface LimitRow {
  readonly key: LimitSettingKey;
  /** Error code of a refusal; null: the excess is dropped, delayed or disconnected instead. */
  readonly code: ErrorCode | null;
  /** Number of counted units in one unit of the setting. */
  readonly unitSize: number;
}

const megabyte = 1024 * 1024;
const row = (key: LimitSettingKey, code: ErrorCode | null, unitSize = 1): LimitRow => ({
  key,
  code,
  unitSize,
});

/** Every limit of a user, phone, token or address. */
export const limitTable: Readonly<Record<LimitName, LimitRow>> = {
  projects: row('maxProjects', 'too_many_projects'),
  project_bytes: row('maxProjectMb', 'project_bytes_exceeded', megabyte),
  capture_bytes: row('maxCaptureMb', 'capture_bytes_exceeded', megabyte),
  kept_log_bytes: row('maxKeptLogMb', null, megabyte),
  work_bytes: row('maxWorkMb', 'work_bytes_exceeded', megabyte),
  tokens: row('maxTokens', 'too_many_tokens'),
  devices: row('maxDevices', null),
  hosts: row('maxHosts', null),
  runs: row('maxRuns', 'too_many_runs'),
  device_runs: row('maxRunsPerDevice', 'too_many_device_runs'),
  log_bytes: row('logKbPerSecond', null, 1024),
  host_messages: row('framesPerSecond', null),
  viewer_messages: row('viewerMessagesPerSecond', null),
  requests: row('requestsPerSecond', 'too_many_requests'),
  bad_tokens: row('badTokensPerMinute', 'too_many_bad_tokens'),
  waiting: row('maxWaiting', 'too_many_waiting'),
  waiting_time: row('maxWaiting', 'too_busy'),
  connections: row('maxConnections', 'too_many_connections'),
  address_connections: row('maxConnectionsPerAddress', 'too_many_connections'),
};

/** Limits of a user that the usage shows. */
const shownLimits: ReadonlyMap<LimitName, Pick<UsageRow, 'per' | 'unit'>> = new Map([
  ['projects', { per: 'user', unit: 'count' }],
  ['project_bytes', { per: 'user', unit: 'bytes' }],
  ['capture_bytes', { per: 'user', unit: 'bytes' }],
  ['kept_log_bytes', { per: 'user', unit: 'bytes' }],
  ['work_bytes', { per: 'user', unit: 'bytes' }],
  ['tokens', { per: 'user', unit: 'count' }],
  ['hosts', { per: 'user', unit: 'count' }],
  ['devices', { per: 'user', unit: 'count' }],
  ['runs', { per: 'user', unit: 'count' }],
  ['device_runs', { per: 'device', unit: 'count' }],
  ['log_bytes', { per: 'second', unit: 'bytes' }],
  ['host_messages', { per: 'host', unit: 'count' }],
  ['requests', { per: 'second', unit: 'count' }],
  ['waiting', { per: 'user', unit: 'count' }],
]);
