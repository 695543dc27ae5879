import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAccessStore } from '../../http/access/store.ts';
import type { Db } from '../../storage/db/database.ts';
import { engines, openTestDatabase } from '../../testing/engines/test-database.ts';
import { createJobStore, type NewJob } from './store.ts';
import { maxWaitingSelectors } from './waiting-selectors-store.ts';

const jobOf = (id: string, selector: string | null): NewJob => ({
  id,
  user_id: 'mallory',
  project_id: 'p',
  project_name: '',
  token_name: null,
  token_projects: null,
  token_phones: null,
  token_budget: null,
  dedup_key: null,
  fingerprint: '',
  selector,
  device_ids: null,
  count: null,
  at_once: null,
  is_distinct: 0,
  is_exclusive: 0,
  has_film: 0,
  phone_settings: null,
  priority: 0,
  concurrency_key: null,
  concurrency_most: null,
  parameters: '{}',
  retries: '{}',
  wait_until: null,
  schedule_id: null,
  created_at: 0,
  ended_at: null,
  cancelled_at: null,
  waiting: 1,
  bytes: 0,
});

describe.each(engines)('the selectors with which tasks of a user wait, on %s', (engine) => {
  let db: Db;
  beforeEach(async () => {
    db = await openTestDatabase(engine);
    await createAccessStore(db).insertUser({ id: 'mallory', name: 'm', role: 'user', created_at: 0 });
  });
  afterEach(() => db.destroy());

  it('are so many at most: another one is refused, one that is there is not', async () => {
    const store = createJobStore(db);
    const rows = Array.from({ length: maxWaitingSelectors }, (_, at) => jobOf(`j${at}`, `rack=${at}`));
    await db
      .insertInto('job')
      .values(rows.map((row) => ({ ...row, woken_at: 0 })))
      .execute();
    expect(await store.insert(jobOf('new', 'rack=new'), [], 1000)).toBe('too_many_selectors');
    expect(await store.insert(jobOf('same', 'rack=1'), [], 1000)).toMatchObject({ id: 'same' });
    expect(await store.insert(jobOf('by-id', null), [], 1000)).toMatchObject({ id: 'by-id' });
    await store.cancel('j0', 1);
    await db.updateTable('job').set({ cancelled: 1 }).where('id', '=', 'j0').execute();
    const cancelled = await store.find('j0');
    if (cancelled === undefined) throw new Error('there is no j0');
    expect(await store.insert(jobOf('new', 'rack=new'), [], 1000)).toMatchObject({ id: 'new' });
    const terms = { budget: null, max: 1000, now: 0 };
    expect(await store.resume(cancelled, cancelled, terms)).toBe('too_many_selectors');
  });
});
