import type { Db } from '../db/database.ts';

/** A run that is under way, of a launch of a user who is stored. */
export async function addRun(db: Db, id: string, userId = 'u'): Promise<void> {
  const launch = { id, user_id: userId, launch_id: id, fingerprint: '', created_at: 0 };
  const unknown = { answer: null, token_name: null, tree: null, parameters: null };
  await db
    .insertInto('launch')
    .values({ ...launch, ...unknown })
    .execute();
  const place = { device_id: 'phone', device_owner_id: userId, host_id: 'host', automation_id: 'automation' };
  const open = { started_at: null, ended_at: null, outcome: null, commit: null, dirty: null };
  const error = { error_code: null, error_message: null, error_stack: null };
  const run = {
    id,
    launch: id,
    user_id: userId,
    launch_id: id,
    status: 'running',
    stop_requested: 0,
    log_left: 0,
  } as const;
  await db
    .insertInto('run')
    .values({ ...run, ...place, ...open, ...error, created_at: 0 })
    .execute();
}
