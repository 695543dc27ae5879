/** Thread with its own connection. It executes one statement at a time, and answers each with its rows or its error. */
import { parentPort, workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import type { ConnectionOptions, ThreadAnswer, ThreadQuery } from './thread-connection.ts';

// The data comes from the server, which is trusted.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const { file, readonly } = workerData as ConnectionOptions;
const sqlite = new Sqlite(file, { readonly, fileMustExist: true });
// Flushes pages that a checkpoint has moved before their space in the log is reused; they may be in memory only.
if (!readonly) sqlite.pragma('synchronous = NORMAL');

parentPort?.on('message', (query: ThreadQuery | 'close') => {
  if (query === 'close') {
    sqlite.close();
    parentPort?.close();
    return;
  }
  parentPort?.postMessage(answer(query));
});

function answer({ text, parameters }: ThreadQuery): ThreadAnswer {
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
