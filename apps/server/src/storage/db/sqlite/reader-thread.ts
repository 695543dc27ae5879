/** A thread with a connection that only reads. It executes one statement at a time, and answers each with its rows or its error. */
import { parentPort, workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import type { ReaderAnswer, ReaderQuery } from './reader-dialect.ts';

const file: unknown = workerData;
const sqlite = new Sqlite(String(file), { readonly: true, fileMustExist: true });

parentPort?.on('message', (query: ReaderQuery | 'close') => {
  if (query === 'close') {
    sqlite.close();
    parentPort?.close();
    return;
  }
  parentPort?.postMessage(answer(query));
});

function answer({ text, parameters }: ReaderQuery): ReaderAnswer {
  try {
    const statement = sqlite.prepare(text);
    if (statement.reader) return { rows: statement.all(...parameters), code: '', message: '' };
    statement.run(...parameters);
    return { rows: [], code: '', message: '' };
  } catch (error) {
    const code = error instanceof Sqlite.SqliteError ? error.code : '';
    return { rows: [], code, message: error instanceof Error ? error.message : String(error) };
  }
}
