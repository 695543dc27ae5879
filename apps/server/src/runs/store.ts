import type { RunError, RunStatus } from '@phalanx/protocol';

import type { Db } from '../db/database.ts';

interface RunRow {
  id: string;
  launch: string;
  user_id: string;
  device_id: string;
  host_id: string;
  automation_id: string;
  launch_id: string | null;
  status: RunStatus;
  stop_requested: number;
  error_code: string | null;
  error_message: string | null;
  commit: string | null;
  dirty: number | null;
  created_at: number;
  started_at: number | null;
  ended_at: number | null;
}

// A type, not an interface: only that has the index signature kysely asks for.
type Tables = {
  run: RunRow;
};

export type StoredRun = RunRow;

/** What a run's host said of it. */
export interface RunChange {
  runId: string;
  status: RunStatus;
  error: RunError | null;
  startedAt: number | null;
  endedAt: number | null;
}

export interface RunFilter {
  userId: string;
  deviceId: string | undefined;
  automationId: string | undefined;
  status: RunStatus | undefined;
  /** Only runs older than this one. */
  cursor: string | undefined;
  limit: number;
}

export type RunStore = ReturnType<typeof createRunStore>;

/** The history of runs. IDs are UUIDv7, so their order is that of creation. */
export function createRunStore(database: Db) {
  const db = database.withTables<Tables>();
  return {
    find: (id: string): Promise<StoredRun | undefined> =>
      db.selectFrom('run').selectAll().where('id', '=', id).executeTakeFirst(),

    listActive: (): Promise<StoredRun[]> =>
      db.selectFrom('run').selectAll().where('status', 'in', ['starting', 'running']).execute(),

    listOfLaunch: (launch: string): Promise<StoredRun[]> =>
      db.selectFrom('run').selectAll().where('launch', '=', launch).execute(),

    list(filter: RunFilter): Promise<StoredRun[]> {
      let query = db.selectFrom('run').selectAll().where('user_id', '=', filter.userId);
      if (filter.deviceId !== undefined) query = query.where('device_id', '=', filter.deviceId);
      if (filter.automationId !== undefined) query = query.where('automation_id', '=', filter.automationId);
      if (filter.status !== undefined) query = query.where('status', '=', filter.status);
      if (filter.cursor !== undefined) query = query.where('id', '<', filter.cursor);
      return query.orderBy('id', 'desc').limit(filter.limit).execute();
    },

    /** All of them are stored, or none. */
    async apply(changes: readonly RunChange[]): Promise<void> {
      await db.transaction().execute(async (transaction) => {
        for (const { runId, status, error, startedAt, endedAt } of changes) {
          await transaction
            .updateTable('run')
            .set({
              status,
              error_code: error?.code ?? null,
              error_message: error?.message ?? null,
              started_at: startedAt,
              ended_at: endedAt,
            })
            .where('id', '=', runId)
            .execute();
        }
      });
    },

    async requestStop(runIds: readonly string[]): Promise<void> {
      await db.updateTable('run').set({ stop_requested: 1 }).where('id', 'in', runIds).execute();
    },
  };
}
