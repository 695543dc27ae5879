import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { createAccessStore } from '../../http/access/store.ts';
import type { Db } from '../db/database.ts';
import { openHost } from '../../testing/fleet-rows.ts';
import { openTestDatabase, engines } from '../../testing/engines/test-database.ts';
import { createNodeStore, type NodeStore } from './store.ts';

describe.each(engines)('servers, in %s,', (engine) => {
  let db: Db;
  let store: NodeStore;

  beforeEach(async () => {
    db = await openTestDatabase(engine);
    store = createNodeStore(db);
    await createAccessStore(db).insertUser({ id: 'u', name: 'u', role: 'user', created_at: 0 });
  });

  const openOn = (nodeId: string): Promise<number> =>
    openHost(db, { userId: 'u', hostId: `host of ${nodeId}`, nodeId });
  const endOf = async (epoch: number): Promise<number | null | undefined> =>
    (await db.selectFrom('host_session').select('ended_at').where('epoch', '=', epoch).executeTakeFirst())
      ?.ended_at;

  it('that end take the connections of their hosts along', async () => {
    await store.begin('one', 1);
    const epoch = await openOn('one');
    await store.end('one', 5);
    expect(await endOf(epoch)).toBe(5);
    expect(await store.findUpSince()).toBeNull();
  });

  it('that are gone without a word are found gone, once', async () => {
    await store.begin('gone', 1);
    const epoch = await openOn('gone');
    await sql`UPDATE node SET lease_until = 0`.execute(db);
    await store.begin('next', 7);
    expect(await endOf(epoch)).toBe(7);
    expect(await store.findUpSince()).toBe(7);
    await store.endGone('next', 8);
    expect(await endOf(epoch)).toBe(7);
    // Had it only stood still, it would know now.
    expect(await store.renew('gone')).toBeUndefined();
    await expect(openHostOfGone()).rejects.toThrow(/foreign key/i);
  });

  /** Opens a host as the server that stood still would try. */
  const openHostOfGone = (): Promise<unknown> =>
    db
      .insertInto('host_session')
      .values({ owner_id: 'u', host_id: 'late', node_id: 'gone', opened_at: 1 })
      .execute();

  it('that had the database before one that has it to itself are gone, however lately they spoke', async () => {
    await store.begin('killed', 1);
    const epoch = await openOn('killed');
    await store.begin('next', 7, true);
    expect(await endOf(epoch)).toBe(7);
    expect(await store.findUpSince()).toBe(7);
  });

  it.runIf(engine === 'PostgreSQL')('that are alive leave each other their hosts', async () => {
    await store.begin('one', 1);
    const epoch = await openOn('one');
    await store.begin('two', 2);
    await store.endGone('two', 3);
    expect(await endOf(epoch)).toBeNull();
    expect(await store.renew('one')).toBeTypeOf('number');
    expect(await store.findUpSince()).toBe(1);
  });
});
