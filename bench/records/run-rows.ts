import path from 'node:path';
import Database from 'better-sqlite3';

import { openDatabase } from '../../apps/server/src/storage/db/database.ts';

/** Stores rows of runs in a file with the service's tables by bare statements: the minimum of a launch. */
export class RunRows {
  readonly #sqlite: Database.Database;
  readonly #deviceIds: readonly string[];
  readonly #insert: Database.Statement;
  readonly #begin: Database.Statement;

  private constructor(sqlite: Database.Database, devices: number) {
    this.#sqlite = sqlite;
    this.#deviceIds = Array.from({ length: devices }, () => crypto.randomUUID());
    this.#insert =
      sqlite.prepare(`INSERT INTO run (id, device_id, device_owner_id, host_id, launch, user_id, automation_id,
        project_name, launch_id, status, "commit", dirty, created_at, epoch)
      SELECT value->>0, value->>1, 'user', 'host', ?, 'user', 'project', 'name', NULL, 'starting', NULL, 0, ?, 1
      FROM json_each(?)`);
    this.#begin =
      sqlite.prepare(`UPDATE run SET status = 'running', started_at = ? FROM json_each(?) AS change
      WHERE run.id = change.value AND run.status = 'starting'`);
  }

  static async open(folder: string, devices: number): Promise<RunRows> {
    const file = path.join(folder, 'phalanx.db');
    const database = await openDatabase({ file });
    await database.destroy();
    const sqlite = new Database(file);
    sqlite.pragma('journal_mode = WAL');
    // A run survives a power failure, as in the service.
    sqlite.pragma('synchronous = FULL');
    sqlite.exec(
      `INSERT INTO user (id, name, name_key, role, created_at) VALUES ('user', 'user', 'user', 'user', 0)`,
    );
    return new RunRows(sqlite, devices);
  }

  /** Stores a launch with a run on each device. Returns the IDs of the runs. */
  insert(): string[] {
    const launch = crypto.randomUUID();
    const now = Date.now();
    const runs = this.#deviceIds.map((deviceId) => [crypto.randomUUID(), deviceId]);
    this.#sqlite.transaction(() => {
      this.#sqlite
        .prepare(
          `INSERT INTO launch (id, user_id, launch_id, fingerprint, created_at) VALUES (?, 'user', ?, '', ?)`,
        )
        .run(launch, launch, now);
      this.#insert.run(launch, now, JSON.stringify(runs));
    })();
    return runs.flatMap(([id = '']) => id);
  }

  /** Stores the start of the runs. */
  begin(runIds: readonly string[]): void {
    const { changes } = this.#begin.run(Date.now(), JSON.stringify(runIds));
    if (changes !== runIds.length) throw new Error(`${changes} of ${runIds.length} runs have begun`);
  }

  /** Ends all runs, so that the devices are free for the next launch. */
  end(): void {
    this.#sqlite.exec(`UPDATE run SET status = 'completed', ended_at = 1 WHERE ended_at IS NULL`);
  }
}
