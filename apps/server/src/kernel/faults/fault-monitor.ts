import { access, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from 'pino';
import { tryWrite } from '@phalanx/settings';
import { backoffMs } from '@phalanx/timing/backoff';
import { errorCodeOf } from '../errors/api-error.ts';

/** Does something small with its part, and throws when that fails. */
export type Probe = (extent: { isThorough: boolean }) => Promise<void>;

interface MonitorOptions {
  log: Logger;
  /** Delay before a failed part is probed again; it grows while faults come back soon. */
  recheckMs?: number;
}

const advice: Readonly<Record<Fault['code'], string>> = {
  storage_full: 'Free space on its disk.',
  storage_unavailable: 'Check the folder, its owner and its disk.',
  database_unavailable:
    'Check phalanx.db in the data folder, or PostgreSQL if PHALANX_DATABASE_URL is set; if it is damaged, restore a backup.',
  git_unavailable: 'Check git in the PATH, and the limits on processes and files.',
  bucket_unavailable: 'Check the storage, and the settings that begin with PHALANX_S3.',
};

/** Name of each part, and error code of its unforeseen faults. */
const parts: Readonly<Record<FaultPart, { name: string; code: Fault['code'] }>> = {
  disk: { name: 'The data folder', code: 'storage_unavailable' },
  database: { name: 'The database', code: 'database_unavailable' },
  git: { name: 'Git', code: 'git_unavailable' },
  s3: { name: 'The S3 storage', code: 'bucket_unavailable' },
};

const maxRecheckMs = 30_000;
/** Faults that begin within this time after the last one has ended are relapses. */
const relapseMs = 60_000;
/** Time after a check in which further calls of `check` do not probe. */
const freshMs = 5000;

/**
 * Knows which parts of the service do not work at present. Code that meets a fault notes it; the part is then probed
 * again until it works. The operator is told once when a fault begins, and once when it has passed.
 */
export class FaultMonitor {
  readonly #options: Required<MonitorOptions>;
  readonly #active = new Map<FaultPart, Fault>();
  readonly #probes: [FaultPart, Probe][] = [];
  #lookedAt = Promise.withResolvers<void>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #checking: Promise<void> | undefined;
  #checkedAt = -Infinity;
  #mendedAt = -Infinity;
  #relapses = 0;

  constructor({ recheckMs = 1000, ...options }: MonitorOptions) {
    this.#options = { ...options, recheckMs };
  }

  get active(): readonly Fault[] {
    return [...this.#active.values()];
  }

  addProbe(part: FaultPart, probe: Probe): void {
    this.#probes.push([part, probe]);
  }

  /** Returns true and logs the fault if `error` comes from the environment; false if it is a bug of the service. */
  note(error: unknown): boolean {
    const fault = findFault(error);
    if (fault === undefined) return false;
    if (this.#active.size === 0) this.#begin();
    this.#add(fault, error);
    this.#schedule();
    return true;
  }

  /** Logs the failure of background work. */
  report(error: unknown, what: string): void {
    if (!this.note(error)) this.#options.log.error({ err: error }, what);
  }

  /** Resolves when no known fault prevents storing; with false when the service stops. */
  async whenStorable(): Promise<boolean> {
    while (this.#isUnstorable && !this.#isClosed) await this.#lookedAt.promise;
    return !this.#isClosed;
  }

  /**
   * Does `work`, and again after each fault of the surroundings, once the service can store. Returns false when the
   * service stops before it is done. Rejects with errors of other kinds.
   */
  async untilDone(work: () => Promise<void> | void): Promise<boolean> {
    for (;;) {
      try {
        await work();
        return true;
      } catch (error) {
        if (!this.note(error)) throw error;
      }
      if (!(await this.whenStorable())) return false;
    }
  }

  /** Probes every part, unless that was done a moment ago. */
  async check(): Promise<void> {
    if (performance.now() - this.#checkedAt >= freshMs) await this.#check();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#lookedAt.resolve();
  }

  get #isUnstorable(): boolean {
    return this.#active.has('disk') || this.#active.has('database');
  }

  #begin(): void {
    this.#relapses = performance.now() - this.#mendedAt < relapseMs ? this.#relapses + 1 : 0;
  }

  #add(fault: Fault, error: unknown): void {
    const known = this.#active.get(fault.part);
    this.#active.set(fault.part, fault);
    if (known?.reason === fault.reason) return;
    const { part, code, reason } = fault;
    this.#options.log.error(
      { part, code, err: error },
      `${parts[part].name} does not work: ${reason}. ${advice[code]}`,
    );
  }

  #schedule(): void {
    if (this.#isClosed || this.#timer !== undefined) return;
    const { recheckMs } = this.#options;
    // Probe the database without backoff: phones wait for it, and the probe costs little.
    const waitMs = this.#active.has('database')
      ? recheckMs
      : backoffMs({ firstMs: recheckMs, maxMs: maxRecheckMs, jitter: 0 }, this.#relapses + 1);
    this.#timer = setTimeout(() => void this.#check(), waitMs);
  }

  #check(): Promise<void> {
    this.#checking ??= this.#probeAll().finally(() => (this.#checking = undefined));
    return this.#checking;
  }

  async #probeAll(): Promise<void> {
    const before = new Set(this.#active.keys());
    const isThorough = before.size > 0;
    const failed = new Set<FaultPart>();
    for (const [part, probe] of this.#probes) {
      await probe({ isThorough }).catch((error: unknown) => failed.add(this.#found(part, error)));
    }
    this.#checkedAt = performance.now();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // Faults that were noted meanwhile are probed the next time.
    for (const part of before) if (!failed.has(part)) this.#end(part);
    if (this.#active.size > 0) this.#schedule();
    else if (isThorough) this.#mendedAt = performance.now();
    this.#lookedAt.resolve();
    this.#lookedAt = Promise.withResolvers();
  }

  /** A probe may fail for the fault of another part: a full disk stops the database too. */
  #found(probed: FaultPart, error: unknown): FaultPart {
    const { code } = parts[probed];
    const fault = findFault(error) ?? { part: probed, code, reason: 'the log has the cause' };
    if (this.#active.size === 0) this.#begin();
    this.#add(fault, error);
    return fault.part;
  }

  #end(part: FaultPart): void {
    this.#active.delete(part);
    this.#options.log.info({ part }, `${parts[part].name} works again`);
  }
}

/** A fault of S3 is not a server's own: all servers share the storage, so no other server could do more. */
const isOwn = ({ part }: Fault): boolean => part !== 's3';

/** Returns the end of "The service is …"; undefined when nothing keeps this server from taking requests. */
export function describeFaults(faults: readonly Fault[]): string | undefined {
  const own = faults.filter(isOwn);
  if (own.length === 0) return undefined;
  const clauses = own.map(({ part, reason }) => `${parts[part].name.toLowerCase()} does not work, ${reason}`);
  return `degraded: ${clauses.join('; ')}`;
}

/** Bytes that a thorough probe writes, to see that the disk has room again. */
const thoroughBytes = 1024 * 1024;
/** Bytes that a brief probe writes, to see that nothing is wrong. */
const briefBytes = 4096;

const isMissing = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(errorCodeOf(error));

/** Makes a probe that writes to the folder, and checks that it still holds `file`, which this process has open. */
export async function probeOfFolder(folder: string, file: string): Promise<Probe> {
  const kept = path.join(folder, file);
  const { ino } = await stat(kept);
  return async ({ isThorough }) => {
    try {
      await tryWrite(folder, isThorough ? thoroughBytes : briefBytes);
      if ((await stat(kept)).ino !== ino) throw new PartFailed(folderMissing);
    } catch (error) {
      throw isMissing(error) ? new PartFailed(folderMissing, { cause: error }) : error;
    }
  };
}

/** Makes a probe that checks that the folder exists. */
export function probeOfPart(folder: string): Probe {
  return async () => {
    await access(folder).catch((error: unknown) => {
      throw isMissing(error) ? new PartFailed(folderMissing, { cause: error }) : error;
    });
  };
}

/** Parts that the service depends on and can lose while it runs. */
export const faultParts = ['disk', 'database', 'git', 's3'] as const;
type FaultPart = (typeof faultParts)[number];

export interface Fault {
  readonly part: FaultPart;
  /** Error code for callers: a row of the error table. */
  readonly code:
    | 'storage_full'
    | 'storage_unavailable'
    | 'database_unavailable'
    | 'git_unavailable'
    | 'bucket_unavailable';
  /** Follows a colon; shown to callers, so it names no path. */
  readonly reason: string;
}

const full: Fault = { part: 'disk', code: 'storage_full', reason: 'there is no room left' };
const disk = (reason: string): Fault => ({ part: 'disk', code: 'storage_unavailable', reason });
const database = (reason: string): Fault => ({ part: 'database', code: 'database_unavailable', reason });
const git = (reason: string): Fault => ({ part: 'git', code: 'git_unavailable', reason });

export const folderMissing = disk('a folder in it is missing');

/** Faults by the codes of the operating system, SQLite and PostgreSQL. Other codes count as bugs of the service. */
const faults: Readonly<Record<string, Fault>> = {
  ENOSPC: full,
  EDQUOT: full,
  EFBIG: full,
  SQLITE_FULL: full,
  EROFS: disk('it is read-only'),
  EACCES: disk('this user may not use it'),
  EPERM: disk('this user may not use it'),
  EIO: disk('the disk reports errors'),
  EMFILE: disk('too many files are open'),
  ENFILE: disk('too many files are open'),
  SQLITE_BUSY: database('another program has locked its file'),
  SQLITE_LOCKED: database('another program has locked its file'),
  SQLITE_IOERR: database('the disk reports errors on its file'),
  SQLITE_CORRUPT: database('its file is damaged'),
  SQLITE_NOTADB: database('its file is no database'),
  SQLITE_READONLY: database('its file is read-only'),
  SQLITE_CANTOPEN: database('its file cannot be opened'),
  SQLITE_NOMEM: database('there is not enough memory for it'),
  '53100': database('its disk is full'),
  '53200': database('there is not enough memory for it'),
  '53300': database('it has no connection left'),
  '57P01': database('it has ended the connection'),
  '57P02': database('it has crashed'),
  '57P03': database('it is starting or stopping'),
  '57014': database('it takes too long'),
  '55P03': database('it takes too long'),
  '25006': database('it is read-only'),
  '58030': database('the disk reports errors on its files'),
  XX001: database('its files are damaged'),
  XX002: database('its files are damaged'),
};

/** Messages of the PostgreSQL client's errors that have no code. */
const cut = /^(Connection terminated|Client has encountered a connection error|Client was closed)/;

const spawnProblems: Readonly<Record<string, string>> = {
  ENOENT: 'it was not found',
  EACCES: 'it may not be run',
  EAGAIN: 'there are too many processes',
  ENOMEM: 'there is not enough memory',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
};

/** Error of a part of the service that knows its fault better than a code of the system does. */
export class PartFailed extends Error {
  override readonly name = 'PartFailed';
  readonly fault: Fault;

  constructor(fault: Fault, options?: ErrorOptions) {
    super(fault.reason, options);
    this.fault = fault;
  }
}

/** Returns the error of a git that does not start, or fails at the simplest command. */
export function gitFailed(error: unknown): PartFailed {
  return new PartFailed(git(spawnProblems[errorCodeOf(error)] ?? 'it ends with errors'), { cause: error });
}

/**
 * Returns the error of an S3 storage that does not answer, or refuses. `reason` is for callers, so it names no address.
 */
export const s3Failed = (reason: string, cause: unknown): PartFailed =>
  new PartFailed({ part: 's3', code: 'bucket_unavailable', reason }, { cause });

/** Finds the fault of the environment that `error` or one of its causes reports; undefined: a bug of the service. */
export function findFault(error: unknown): Fault | undefined {
  for (let next = error; next instanceof Error; next = next.cause) {
    if (next instanceof PartFailed) return next.fault;
    const code = errorCodeOf(next);
    // SQLite has extended codes, such as SQLITE_IOERR_WRITE.
    const fault = faults[code] ?? faults[/^SQLITE_[A-Z]+/.exec(code)?.[0] ?? ''];
    if (fault !== undefined) return fault;
    if (cut.test(next.message)) return database('the connection was cut');
  }
  return undefined;
}
