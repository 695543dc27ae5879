/** Thread with its own connection. It executes one request at a time, and answers each with its rows or its error. */
import { parentPort, workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import type { SqliteStatement, SqliteThreadOptions, ThreadAnswer, ThreadRequest } from './sqlite-thread.ts';

/** Maximum number of cached statements. Some callers make up many texts. */
const maxKept = 100;

// The data comes from the program itself, which is trusted.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const { file, readonly } = workerData as SqliteThreadOptions;
const sqlite = new Sqlite(file, { readonly, fileMustExist: readonly });
// Flushes pages that a checkpoint has moved before their space in the log is reused; they may be in memory only.
if (!readonly) sqlite.pragma('synchronous = NORMAL');
const kept = new Map<string, Sqlite.Statement>();

parentPort?.on('message', (request: ThreadRequest | 'close') => {
  if (request === 'close') {
    sqlite.close();
    parentPort?.close();
    return;
  }
  parentPort?.postMessage(answer(request));
});

function answer({ statements, isTransaction, isDurable }: ThreadRequest): ThreadAnswer {
  try {
    if (!isTransaction) return { rows: statements.map(execute), code: '', message: '' };
    if (isDurable) sqlite.pragma('synchronous = FULL');
    const rows = sqlite.transaction(() => statements.map(execute)).immediate();
    return { rows, code: '', message: '' };
  } catch (error) {
    const code = error instanceof Sqlite.SqliteError ? error.code : '';
    return { rows: [], code, message: error instanceof Error ? error.message : String(error) };
  } finally {
    if (isDurable) sqlite.pragma('synchronous = NORMAL');
  }
}

function execute({ text, parameters = [] }: SqliteStatement): unknown[] {
  const statement = kept.get(text) ?? keep(text);
  if (statement.reader) return statement.all(...parameters);
  // A pragma such as `incremental_vacuum` has several steps, of which `run` makes one.
  if (parameters.length === 0) sqlite.exec(text);
  else statement.run(...parameters);
  return [];
}

function keep(text: string): Sqlite.Statement {
  if (kept.size >= maxKept) kept.clear();
  const statement = sqlite.prepare(text);
  kept.set(text, statement);
  return statement;
}
