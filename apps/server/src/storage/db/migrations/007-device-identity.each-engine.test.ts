import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';

import { createAccessStore } from '../../../http/access/store.ts';
import { engines, openTestDatabase } from '../../../testing/engines/test-database.ts';
import { deviceIdentity } from './007-device-identity.ts';

describe.each(engines)('devices of the release before, in %s,', (engine) => {
  it('keep their IDs and serial numbers, which are their identities at first', async () => {
    const db = await openTestDatabase(engine);
    for (const column of ['serial', 'phone_mark', 'boot_mark'])
      await sql.raw(`alter table device drop column ${column}`).execute(db);
    await sql.raw('alter table device rename column identity to serial').execute(db);
    await createAccessStore(db).insertUser({ id: 'u', name: 'u', role: 'user', created_at: 0 });
    await sql`insert into device (id, owner_id, serial, host_id, host_name, brand, model, android_version,
      sdk_version, screen_width, screen_height, last_seen_at, state, reason, since)
      values ('d', 'u', 'usb:1-1', 'h', 'host', '', '', '', 0, 0, 0, 0, 'ready', '', 0)`.execute(db);
    await deviceIdentity.up(db);
    const rows = await db
      .selectFrom('device')
      .select(['id', 'serial', 'identity', 'phone_mark', 'boot_mark'])
      .execute();
    expect(rows).toEqual([
      { id: 'd', serial: 'usb:1-1', identity: 'usb:1-1', phone_mark: '', boot_mark: '' },
    ]);
  });
});
