import { v7 as uuidv7 } from 'uuid';
import { describe, expect, it } from 'vitest';
import { openTestDatabase, engines } from '../../testing/engines/test-database.ts';
import type { StoredRecord } from './stored-record.ts';
import { createBrowseStore } from './browse/browse-store.ts';
import { createRecordStore } from './store.ts';

const newRecord = (): StoredRecord => ({
  ...{ id: uuidv7(), owner_id: 'owner', automation_id: 'automation', project_id: null, run_id: 'run' },
  ...{
    user_id: 'owner',
    device_id: 'device',
    device_info: '{}',
    automation_name: 'shop',
    error: null,
    app: null,
  },
  type: 'crash',
  status: 'pending',
  is_partial: 0,
  ...{ tag: 'default', retention_group: '', saved: 0, has_gap: 0, missing_captures: 0 },
  ...{ capture_bytes: 0, added_at: 0 },
});
const retention = { limits: { debugPerTag: 200, others: 1000 }, nowMs: 0 };

describe.each(engines)('in %s', (engine) => {
  it('of a hundred who mark a record at once, one does it', async () => {
    const store = createRecordStore(await openTestDatabase(engine));
    const record = newRecord();
    await store.insert(record, [], retention);
    const marks = Array.from({ length: 100 }, (_, caller) =>
      store.mark(record.id, caller % 2 === 0 ? 'solved' : 'skipped'),
    );
    const marked = (await Promise.all(marks)).filter((mark) => mark?.marked === true);
    expect(marked).toHaveLength(1);
    expect(await store.find(record.id)).toEqual(marked[0]?.record);
  });

  it('records that come at once are all counted', async () => {
    const db = await openTestDatabase(engine);
    const store = createRecordStore(db);
    const records = Array.from({ length: 300 }, newRecord);
    await Promise.all(records.map((record) => store.insert(record, [], retention)));
    const scopes = [{ ownerId: 'owner', automationId: null }];
    const filter = {
      type: undefined,
      status: undefined,
      isPartial: undefined,
      tag: undefined,
      deviceId: undefined,
      runId: undefined,
      fromId: undefined,
      untilId: undefined,
    };
    const page = await createBrowseStore(db).browse({
      visible: scopes,
      scopes,
      filter,
      wanted: { kind: 'newest' },
    });
    expect(page?.total).toBe(300);
  });
});
