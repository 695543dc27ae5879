import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SqliteThread } from '@phalanx/sqlite-thread';
import { minuteMs } from '@phalanx/timing/durations';
import type { Logger } from 'pino';
import type { TSchema } from 'typebox';
import { importFolders } from './import-folders.ts';
import { JsonTable } from './json-table.ts';
import { type JsonTableName, tables } from './tables.ts';

/** Codes of SQLite for a file that can't be used as a database any more. */
const damages: readonly unknown[] = ['SQLITE_NOTADB', 'SQLITE_CORRUPT'];
const fileName = 'host.db';
/** Maximum number of pages that are returned to the disk at a time, 20 MB, because writes wait for it. */
const tidiedPages = 5000;

interface HostStoreOptions {
  /** Folder of the host. */
  readonly dir: string;
  readonly log: Logger;
  /** Pause between two times of tidying, in milliseconds. Default: a minute. */
  readonly tidyMs?: number;
}

/**
 * Database of a host: everything that outlives its process, except large bodies, which are files (`BodyFolder`). A
 * write survives the death of the process once it has resolved, and a durable write a power loss.
 */
export class HostStore {
  readonly thread: SqliteThread;
  readonly #tidying: NodeJS.Timeout;

  constructor(thread: SqliteThread, tidyMs: number) {
    this.thread = thread;
    this.#tidying = setInterval(() => void this.#tidy(), tidyMs).unref();
  }

  table<Shape extends TSchema>(name: JsonTableName, shape: Shape): JsonTable<Shape> {
    return new JsonTable(this.thread, name, shape);
  }

  /** Resolves when all writes are done. */
  async close(): Promise<void> {
    clearInterval(this.#tidying);
    await this.thread.close();
  }

  /** Returns the space of deleted rows to the disk. Until then, their content can still be read in the files. */
  async #tidy(): Promise<void> {
    try {
      await this.thread.run({ text: `PRAGMA incremental_vacuum(${tidiedPages})` });
      await this.thread.run({ text: 'PRAGMA wal_checkpoint(TRUNCATE)' });
    } catch {
      // The disk is full. The next write reports it.
    }
  }
}

/** Opens the database, and creates it at the first start. A damaged one is set aside, so that the host can work. */
export async function openHostStore({ dir, log, tidyMs = minuteMs }: HostStoreOptions): Promise<HostStore> {
  const file = join(dir, fileName);
  const thread = await openThread(file).catch(async (error: unknown) => {
    if (!isDamage(error)) throw error;
    const aside = `${file}.damaged`;
    log.error(
      { err: error, aside },
      'The database of the host is damaged: it was set aside, and a new one begun',
    );
    await rename(file, aside);
    for (const end of ['-wal', '-shm']) await rm(file + end, { force: true });
    return openThread(file);
  });
  await importFolders(dir, thread);
  return new HostStore(thread, tidyMs);
}

const isDamage = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && damages.includes(error.code);

async function openThread(file: string): Promise<SqliteThread> {
  const thread = new SqliteThread({ file, readonly: false });
  try {
    // Has an effect only before the first table.
    await thread.run({ text: 'PRAGMA auto_vacuum = INCREMENTAL' });
    await thread.run({ text: 'PRAGMA journal_mode = WAL' });
    await thread.run({ text: 'PRAGMA secure_delete = FAST' });
    await thread.transact(tables.map((text) => ({ text })));
    const [check] = await thread.run<{ quick_check: string }>({ text: 'PRAGMA quick_check(1)' });
    if (check?.quick_check === 'ok') return thread;
    throw Object.assign(new Error(check?.quick_check), { code: 'SQLITE_CORRUPT' });
  } catch (error) {
    await thread.close();
    throw error;
  }
}
