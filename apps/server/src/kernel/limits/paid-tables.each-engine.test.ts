import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sql } from 'kysely';
import type { Db } from '../../storage/db/database.ts';
import type { Database, StoredKind } from '../../storage/db/tables/tables.ts';
import { engines, openTestDatabase } from '../../testing/engines/test-database.ts';
import { createStoredBytes } from '../../storage/db/stored-bytes.ts';

/** A kind of stored bytes, of the row itself or of the row that it goes with; or why nobody has to pay. */
type Payer = { readonly kind: StoredKind; readonly by?: keyof Database } | string;

/** The payer for the bytes of each table that a user can make grow. Give a new table its row. */
const payers = {
  user: 'made by administrators',
  token: 'PHALANX_MAX_TOKENS, texts of bounded length',
  session: 'a bounded number for each token',
  token_use: 'a row a token',
  sign_in_link: 'minutes',
  device: 'PHALANX_MAX_DEVICES, texts of bounded length',
  host: 'PHALANX_MAX_HOSTS, texts of bounded length',
  node: 'of servers',
  host_session: 'a row a connection, for hours',
  share: 'a row a member',
  label_set: 'at most 50 labels of 100 letters for each phone and host',
  pool: '200 of a user, of 1,000 letters',
  launch: { kind: 'work' },
  run: 'texts of bounded length, for the days of the history',
  job: { kind: 'work' },
  schedule: { kind: 'work' },
  schedule_turn: '1,000 of a schedule, of which a user has 1,000',
  webhook: '50 of a user',
  webhook_delivery: '10,000 of a user that wait, 1,000 of a webhook that have ended',
  webhook_absence: 'a row for each phone and host that is away',
  mail_use: 'a row for each mailbox that the operator allows',
  task: { kind: 'work', by: 'job' },
  task_attempt: 'numbers of the attempts of a run',
  installation: 'one row',
  device_lease: 'a row a phone',
  lease_code: 'bounded for each lease, of which a phone has one',
  cache_invalidation: 'minutes',
  bundle: 'a row for each saved version of a project, as long as it is used',
  launch_payload: 'until the runs have begun',
  launch_code: { kind: 'work', by: 'launch' },
  run_result: { kind: 'work', by: 'launch' },
  run_file: { kind: 'captures' },
  film_part: { kind: 'captures' },
  run_stat: 'numbers of days',
  kept_chunk: { kind: 'logs', by: 'kept_log' },
  kept_log: { kind: 'logs' },
  project: { kind: 'projects' },
  project_secret: '100 of a project, of 8 KB',
  secret_recipient: 'a row a user whose hosts get the secrets of a project',
  project_ref: { kind: 'projects', by: 'project' },
  log_progress: 'a number a run',
  log_table: 'of servers',
  project_pack: { kind: 'projects', by: 'project' },
  project_member: 'a row a member',
  record: { kind: 'captures' },
  record_screen: { kind: 'captures', by: 'record' },
  record_group: 'texts of bounded length, of the records of a project',
  group_member: 'numbers of a record',
  group_print: 'of bounded size, of the groups of a project',
  group_screen: 'a bounded number of copies for each group',
  replay: 'a bounded number of each project',
  replay_draft: 'until the replay has ended',
  replay_verdict: 'numbers of the screens of a replay',
  app_version: 'numbers of the versions of an app',
  group_move: 'texts of bounded length, of what people do by hand',
  group_move_record: 'numbers of the records of a move',
  work: 'IDs and events of bounded length, until it is done',
  stored_bytes: 'the sums themselves',
  audit_entry: 'texts of bounded length, at the rate of requests',
  audit_reader: 'numbers of an entry',
} as const satisfies Record<keyof Database, Payer>;

/** Kept by the database drivers and the migrations; and the logs of ten minutes, at the rate of `log_bytes`. */
const isOwn = (name: string): boolean => /^(sqlite_|kysely_|log_\d+$)/.test(name);

const userId = 'mallory';

describe.each(engines)('the bytes that stay, on %s', (engine) => {
  let db: Db;
  beforeEach(async () => {
    db = await openTestDatabase(engine);
    await sql
      .raw(
        `insert into "user" (id, name, name_key, role, created_at) values ('${userId}', 'm', 'm', 'user', 0)`,
      )
      .execute(db);
  });
  afterEach(() => db.destroy());

  it('have somebody who pays for them in each table', async () => {
    const tables = (await db.introspection.getTables())
      .map(({ name }) => name)
      .filter((name) => !isOwn(name));
    expect(tables.filter((name) => !Object.hasOwn(payers, name))).toEqual([]);
    for (const [name, payer] of Object.entries<Payer>(payers))
      if (typeof payer !== 'string' && payer.by !== undefined) expect(payers, name).toHaveProperty(payer.by);
  });

  it('of jobs, schedules and launches are counted with what comes back, until they are gone', async () => {
    const count = () => createStoredBytes(db).count(userId, 'work');
    const execute = (text: string) => sql.raw(text).execute(db);
    await execute(`insert into job (id, user_id, project_id, project_name, fingerprint, is_distinct, is_exclusive, has_film,
      priority, parameters, retries, created_at, woken_at, waiting, bytes)
      values ('j', '${userId}', 'p', '', '', 0, 0, 0, 0, '{}', '{}', 0, 0, 0, 100)`);
    await execute(`insert into task (id, job_id, number, status) values ('t', 'j', 1, 'running')`);
    await execute(`update task set result = '{"a":"ä"}' where id = 't'`);
    expect(await count()).toBe(110);
    await execute(
      `insert into launch (id, user_id, fingerprint, created_at, bytes) values ('l', '${userId}', '', 0, 1000)`,
    );
    await execute(`insert into run (id, launch, user_id, device_id, device_owner_id, host_id, automation_id, status, created_at)
      values ('r', 'l', '${userId}', 'd', '${userId}', 'h', 'p', 'completed', 0)`);
    await execute(`insert into run_result (run_id, json) values ('r', '1234')`);
    await execute(`update run_result set json = '12' where run_id = 'r'`);
    expect(await count()).toBe(1112);
    await execute(`update task set result = null where id = 't'`);
    expect(await count()).toBe(1102);
    await execute(`delete from job where id = 'j'`);
    await execute(`delete from run where id = 'r'`);
    await execute(`delete from launch where id = 'l'`);
    expect(await count()).toBe(0);
  });
});
