import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';

import { createAccessStore } from '../../../http/access/store.ts';
import { engines, openTestDatabase } from '../../../testing/engines/test-database.ts';
import { acceptedShares } from './002-accepted-shares.ts';

describe.each(engines)('shares of the release before, in %s,', (engine) => {
  it('count as accepted, and those that come later wait', async () => {
    const db = await openTestDatabase(engine);
    for (const statement of [
      'drop index share_user',
      'drop table secret_recipient',
      ...['share', 'project_member'].flatMap((table) =>
        ['shared_at', 'accepted_at'].map((column) => `alter table ${table} drop column ${column}`),
      ),
    ])
      await sql.raw(statement).execute(db);
    const users = createAccessStore(db);
    for (const id of ['owner', 'member', 'later'])
      await users.insertUser({ id, name: id, role: 'user', created_at: 0 });
    const project = { id: 'p', owner_id: 'owner', name: 'p', name_key: 'p', created_at: 0 };
    await db.insertInto('project').values(project).execute();
    const share = async (user_id: string): Promise<void> => {
      const target = { owner_id: 'owner', kind: 'device', target_id: 'd' } as const;
      await db
        .insertInto('share')
        .values({ ...target, user_id, role: 'launch' })
        .execute();
      const member = { project_id: 'p', user_id, role: 'shared_editor' } as const;
      await db.insertInto('project_member').values(member).execute();
    };
    await share('member');
    await acceptedShares.up(db);
    await share('later');
    for (const table of ['share', 'project_member'] as const) {
      const rows = await db.selectFrom(table).select(['user_id', 'accepted_at', 'shared_at']).execute();
      expect(
        rows.toSorted((one, other) => (one.user_id < other.user_id ? 1 : -1)),
        table,
      ).toEqual([
        { user_id: 'member', accepted_at: expect.any(Number), shared_at: null },
        { user_id: 'later', accepted_at: null, shared_at: null },
      ]);
    }
  });
});
