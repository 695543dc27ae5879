import { beforeEach, describe, expect, it } from 'vitest';
import { createAccessStore } from '../../http/access/store.ts';
import type { Db } from '../../storage/db/database.ts';
import { GroupCommit } from '../../storage/db/group-commit.ts';
import { openHost, tryOpenHost } from '../../testing/fleet-rows.ts';
import { openTestDatabase, engines } from '../../testing/engines/test-database.ts';
import { createHostStore, type HostStore } from './store.ts';

const userId = 'u';

describe.each(engines)('the connections of hosts, in %s,', (engine) => {
  let db: Db;
  let store: HostStore;

  beforeEach(async () => {
    db = await openTestDatabase(engine);
    store = createHostStore(db, new GroupCommit(db));
    await createAccessStore(db).insertUser({ id: userId, name: userId, role: 'user', created_at: 0 });
  });

  it('have growing numbers, and of those of one host that come at once the last one stays', async () => {
    const epochs = await Promise.all(Array.from({ length: 20 }, () => openHost(db, { userId, hostId: 'h' })));
    expect(new Set(epochs).size).toBe(20);
    const sessions = await db.selectFrom('host_session').select(['epoch', 'ended_at']).execute();
    expect(sessions).toEqual([{ epoch: Math.max(...epochs), ended_at: null }]);
    expect(await openHost(db, { userId, hostId: 'h' })).toBeGreaterThan(Math.max(...epochs));
  });

  it('that come at once under new IDs are no more than their user may have', async () => {
    const openings = await Promise.all(
      Array.from({ length: 20 }, (_, at) => tryOpenHost(db, { userId, hostId: `h${at}`, maxHosts: 5 })),
    );
    expect(openings.filter((opening) => opening === 'too_many')).toHaveLength(15);
    expect(await store.count(userId)).toBe(5);
  });

  it('that come at once with two tokens are all of one', async () => {
    const openings = await Promise.all(
      Array.from({ length: 20 }, (_, at) => tryOpenHost(db, { userId, hostId: 'h', tokenId: `t${at % 2}` })),
    );
    const refused = openings.filter((opening) => typeof opening === 'object' && 'belongsTo' in opening);
    expect(refused).toHaveLength(10);
  });

  it('that have ended are told of as away, and a later one of the same host is not', async () => {
    const [first, other] = [
      await openHost(db, { userId, hostId: 'h' }),
      await openHost(db, { userId, hostId: 'other' }),
    ];
    await store.end([first, other], 10);
    expect(await store.listAway(9)).toEqual([]);
    const epoch = await openHost(db, { userId, hostId: 'h' });
    // The end of the earlier connection is stored late.
    await store.end([first], 10);
    expect(await store.listAway(10)).toEqual([{ owner_id: userId, host_id: 'other', epoch: other }]);
    expect(epoch).toBeGreaterThan(other);
  });
});
