import { describe, expect, it } from 'vitest';
import { createProjectStore } from '../../code/projects/store.ts';
import { openTestDatabase, engines } from '../../testing/engines/test-database.ts';
import { createAccessStore, type StoredUser } from './store.ts';

const userNamed = (name: string) => ({ id: name, name, role: 'admin' as const, created_at: 0 });
const isTrue = (stored: boolean): boolean => stored;

describe.each(engines)('in %s', (engine) => {
  it('those who ask at once get no more tokens and projects than their user may have', async () => {
    const db = await openTestDatabase(engine);
    const access = createAccessStore(db);
    await access.insertUser(userNamed('ada'));
    const tokens = Array.from({ length: 40 }, (_, number) =>
      access.insertTokenWithin(
        {
          id: `t${number}`,
          userId: 'ada',
          name: 'test',
          hash: `h${number}`,
          scopes: [],
          projectIds: null,
          selector: null,
          maxPhones: null,
          apps: null,
          runsPerDay: null,
          minutesPerDay: null,
          parentId: null,
          createdAt: 0,
          expiresAt: null,
        },
        5,
      ),
    );
    expect((await Promise.all(tokens)).filter(isTrue)).toHaveLength(5);
    const projects = createProjectStore(db);
    const wanted = Array.from({ length: 40 }, (_, number) =>
      projects.insertWithin({ id: `p${number}`, owner_id: 'ada', name: `p${number}`, created_at: 0 }, 5),
    );
    expect((await Promise.all(wanted)).filter(isTrue)).toHaveLength(5);
  });

  it('of administrators who leave at once, one stays', async () => {
    const access = createAccessStore(await openTestDatabase(engine));
    const names = Array.from({ length: 20 }, (_, number) => `admin ${number}`);
    const users: StoredUser[] = [];
    for (const name of names) users.push(await access.insertUser(userNamed(name)));
    const left = await Promise.all(users.map(({ id }) => access.updateUser({ id, disabled_at: 1 })));
    expect(left.filter((hasLeft) => !hasLeft)).toHaveLength(1);
    expect((await access.findAdministrator())?.id).toBe(names[left.indexOf(false)]);
  });
});
