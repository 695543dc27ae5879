import type Database from 'better-sqlite3';

/** A log this long is brought into the database file by the commit that finds it: 16 MB. */
const mostLoggedPages = 4000;
/** So long nobody has written. */
const quietMs = 25;
/** Fewer changed rows are not worth the flushes of the disk. */
const leastChanges = 500;

/**
 * Brings what was committed from the write-ahead log into the database file while nobody writes, because that takes ten
 * times as long as a commit. Call the result after each commit.
 */
export function checkpointWhenQuiet(sqlite: Database.Database): () => void {
  sqlite.pragma(`wal_autocheckpoint = ${mostLoggedPages}`);
  const countChanges = sqlite.prepare('SELECT total_changes()').pluck();
  let broughtIn = countChanges.get();
  const bringIn = (): void => {
    if (!sqlite.open || sqlite.inTransaction) return;
    const changes = countChanges.get();
    if (Number(changes) - Number(broughtIn) < leastChanges) return;
    broughtIn = changes;
    try {
      sqlite.pragma('wal_checkpoint(PASSIVE)');
    } catch {
      // All is still in the log; who writes next is told what is wrong with the disk.
    }
  };
  let timer: NodeJS.Timeout | undefined;
  return () => {
    timer = timer?.refresh() ?? setTimeout(bringIn, quietMs).unref();
  };
}
