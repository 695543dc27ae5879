import Sqlite from 'better-sqlite3';
import type { CachedThing } from '../storage/db/tables/column-types.ts';

/** Changes that make a cache stale, also when they come by a foreign key. */
const changes: Record<CachedThing, readonly string[]> = {
  access: ['delete on token', 'update of name, role, disabled_at on "user"', 'delete on "user"'],
  sessions: ['delete on session'],
  shares: [
    'insert on share',
    'update on share',
    'delete on share',
    'insert on "user"',
    'update of name on "user"',
    'delete on "user"',
  ],
  people: [
    'insert on project_member',
    'update on project_member',
    'delete on project_member',
    'update of owner_id on project',
    'delete on project',
  ],
  leases: ['insert on device_lease', 'update on device_lease', 'delete on device_lease'],
  labels: [
    'insert on label_set',
    'update on label_set',
    'delete on label_set',
    'insert on pool',
    'update on pool',
    'delete on pool',
  ],
  // Nothing of them is cached: their servers look for tasks that wait.
  jobs: [],
};

/** Watches a server's file of SQLite for changes of cached rows that no invalidation follows. */
export class StaleCaches {
  readonly #sqlite: Sqlite.Database;

  constructor(file: string) {
    this.#sqlite = new Sqlite(file);
    this.#sqlite.exec(`CREATE TABLE stale_cache (name TEXT NOT NULL, change TEXT NOT NULL);
      CREATE TABLE seen_change (change TEXT NOT NULL);
      CREATE TRIGGER cache_invalidated AFTER INSERT ON cache_invalidation
      BEGIN DELETE FROM stale_cache WHERE name = NEW.name; END`);
    for (const [name, events] of Object.entries(changes))
      for (const event of events)
        this.#sqlite.exec(`CREATE TRIGGER "stale ${name}: ${event.replaceAll('"', '')}" AFTER ${event}
          BEGIN
            INSERT INTO stale_cache VALUES ('${name}', '${event}');
            INSERT INTO seen_change VALUES ('${event}');
          END`);
  }

  /** Lists the changes since the last invalidation of what they make stale. */
  list(): unknown[] {
    return this.#sqlite.prepare(`SELECT DISTINCT name || ': ' || change FROM stale_cache`).pluck().all();
  }

  /** Lists the changes that have not come. */
  listUnseen(): string[] {
    const seen = new Set(this.#sqlite.prepare('SELECT change FROM seen_change').pluck().all());
    return Object.values(changes)
      .flat()
      .filter((change) => !seen.has(change));
  }

  close(): void {
    this.#sqlite.close();
  }
}
