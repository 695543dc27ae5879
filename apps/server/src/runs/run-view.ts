import type { Run } from '@phalanx/protocol';

import type { StoredRun } from './stored-run.ts';

/** A run as the API shows it. */
export function runView(row: StoredRun): Run {
  return {
    run_id: row.id,
    automation_id: row.automation_id,
    launch_id: row.launch_id,
    device_id: row.device_id,
    status: row.status,
    error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' },
    commit: row.commit,
    dirty: row.dirty === null ? null : row.dirty === 1,
    created_at: row.created_at,
    started_at: row.started_at,
    ended_at: row.ended_at,
  };
}
