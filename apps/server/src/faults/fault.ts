import { errorCodeOf } from '../errors/error-code.ts';

/** What the service stands on and can lose while it runs. */
export const faultParts = ['disk', 'database', 'git', 's3'] as const;
export type FaultPart = (typeof faultParts)[number];

export interface Fault {
  readonly part: FaultPart;
  /** What callers are told: a row of the error table. */
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

/** By the codes of the operating system, of SQLite and of PostgreSQL. Others are mistakes of ours until the opposite is shown. */
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

/** The client of PostgreSQL gives these no code. */
const cut = /^(Connection terminated|Client has encountered a connection error|Client was closed)/;

const spawnProblems: Readonly<Record<string, string>> = {
  ENOENT: 'it was not found',
  EACCES: 'it may not be run',
  EAGAIN: 'there are too many processes',
  ENOMEM: 'there is not enough memory',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
};

/** What a part of the service says when it knows its fault better than a code of the system does. */
export class PartFailed extends Error {
  override readonly name = 'PartFailed';
  readonly fault: Fault;

  constructor(fault: Fault, options?: ErrorOptions) {
    super(fault.reason, options);
    this.fault = fault;
  }
}

/** Git did not even begin, or does not do the simplest thing. */
export function gitFailed(error: unknown): PartFailed {
  return new PartFailed(git(spawnProblems[errorCodeOf(error)] ?? 'it ends with errors'), { cause: error });
}

/** The S3 storage does not answer, or refuses. `reason` is for callers, so it names no address. */
export const s3Failed = (reason: string, cause: unknown): PartFailed =>
  new PartFailed({ part: 's3', code: 'bucket_unavailable', reason }, { cause });

/** The fault of the surroundings that `error` or one of its causes tells of; undefined: it is a mistake of ours. */
export function findFault(error: unknown): Fault | undefined {
  for (let next = error; next instanceof Error; next = next.cause) {
    if (next instanceof PartFailed) return next.fault;
    const code = errorCodeOf(next);
    // SQLite has codes below its codes, such as SQLITE_IOERR_WRITE.
    const fault = faults[code] ?? faults[/^SQLITE_[A-Z]+/.exec(code)?.[0] ?? ''];
    if (fault !== undefined) return fault;
    if (cut.test(next.message)) return database('the connection was cut');
  }
  return undefined;
}
