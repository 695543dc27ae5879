/** A thread that brings what was committed from the write-ahead log into the database file; others read and write meanwhile. */
import { parentPort, workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';

const file: unknown = workerData;
const sqlite = new Sqlite(String(file), { fileMustExist: true });
// Flushes pages that were brought in before their place in the log is used again; they may be in memory only.
sqlite.pragma('synchronous = NORMAL');

parentPort?.on('message', (wish: unknown) => {
  if (wish === 'close') {
    sqlite.close();
    parentPort?.close();
    return;
  }
  parentPort?.postMessage(bringIn());
});

/** Returns how many pages the log has. */
function bringIn(): number {
  try {
    const [row] = sqlite.prepare<[], { log: number }>('PRAGMA wal_checkpoint(PASSIVE)').all();
    return row?.log ?? 0;
  } catch {
    // All is still in the log; the next write tells what is wrong with the disk.
    return 0;
  }
}
