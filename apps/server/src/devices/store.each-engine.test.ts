import { beforeEach, describe, expect, it } from 'vitest';
import { createAccessStore } from '../access/store.ts';
import type { Db } from '../db/database.ts';
import { EpochOver } from '../db/epochs.ts';
import { GroupCommit } from '../db/writes.ts';
import { createHostStore } from '../hosts/store.ts';
import { openHost } from '../testing/fleet-rows.ts';
import { openTestDatabase, engines } from '../testing/engines/test-database.ts';
import { createDeviceStore, type DescribedDevice, type DeviceStore, type StoredDevice } from './store.ts';

const described = (serial: string, about: Partial<DescribedDevice> = {}): DescribedDevice => ({
  ...{ owner_id: 'u', serial, host_id: 'h', host_name: 'host', brand: 'Google', model: 'Pixel 9' },
  ...{ android_version: '16', sdk_version: 36, screen_width: 1080, screen_height: 2424, last_seen_at: 1 },
  ...{ state: 'ready', reason: 'Ready for automations', since: 1, warnings: '[]' },
  ...about,
});

describe.each(engines)('devices, in %s,', (engine) => {
  let db: Db;
  let store: DeviceStore;
  let epoch: number;

  beforeEach(async () => {
    db = await openTestDatabase(engine);
    await createAccessStore(db).insertUser({ id: 'u', name: 'u', role: 'user', created_at: 0 });
    store = createDeviceStore(db, new GroupCommit(db));
    epoch = await openHost(db, { userId: 'u', hostId: 'h' });
  });

  const all = (): Promise<StoredDevice[]> => db.selectFrom('device').selectAll().orderBy('serial').execute();
  const report = (devices: readonly DescribedDevice[], on = epoch, most = 1000): Promise<StoredDevice[]> =>
    store.report(devices, { epoch: on, most }).then(({ stored }) => stored);

  it('that two hosts report for the first time at once have one ID', async () => {
    const other = await openHost(db, { userId: 'u', hostId: 'other' });
    const serials = Array.from({ length: 30 }, (_, at) => `serial ${at}`);
    const reports = serials.map((serial) => described(serial));
    const [some, same] = await Promise.all([report(reports), report(reports.toReversed(), other)]);
    const idOf = new Map(some.map(({ serial, id }) => [serial, id]));
    expect(same.map(({ serial, id }) => idOf.get(serial) === id)).toEqual(serials.map(() => true));
    expect(await all()).toHaveLength(30);
  });

  it('stay what they said they are when they are reported without it', async () => {
    const [before] = await report([described('one')]);
    const nothing = { brand: '', model: '', android_version: '', sdk_version: 0, screen_width: 0 };
    const [after] = await report([described('one', { ...nothing, host_name: 'renamed' })]);
    expect(after).toEqual({ ...before, host_name: 'renamed' });
  });

  it('are not changed over a connection that a newer one has replaced', async () => {
    await report([described('one')]);
    await openHost(db, { userId: 'u', hostId: 'h' });
    await expect(report([described('one', { model: 'Late' })])).rejects.toThrow(EpochOver);
    expect(await all()).toMatchObject([{ model: 'Pixel 9' }]);
  });

  it('that are too many are left out, also when two hosts bring them at once; known ones are not', async () => {
    const other = await openHost(db, { userId: 'u', hostId: 'other' });
    const [first, second] = [
      ['a', 'b', 'c'],
      ['d', 'e', 'f'],
    ].map((serials) => serials.map((serial) => described(serial)));
    const outcomes = await Promise.all([
      store.report(first ?? [], { epoch, most: 4 }),
      store.report(second ?? [], { epoch: other, most: 4 }),
    ]);
    expect(outcomes.map(({ refused }) => refused)).toEqual(expect.arrayContaining([0, 2]));
    const known = await all();
    expect(known).toHaveLength(4);
    const again = known.map(({ serial }) => described(serial, { model: 'Changed' }));
    expect(await report(again, other, 0)).toHaveLength(4);
  });

  it('are with the host that can use them, until that one is gone', async () => {
    const other = await openHost(db, { userId: 'u', hostId: 'other' });
    await db
      .updateTable('node')
      .set({ lease_until: Date.now() + 60_000 })
      .execute();
    await report([described('one')]);
    const unusable = described('one', { state: 'unauthorized', host_name: 'other' });
    expect(await report([unusable], other)).toEqual([]);
    expect(await all()).toMatchObject([{ state: 'ready', epoch }]);
    await createHostStore(db, new GroupCommit(db)).end([epoch], 5);
    expect(await report([unusable], other)).toMatchObject([{ state: 'unauthorized', epoch: other }]);
  });

  it('have the state that their own host gave them', async () => {
    await report([described('one'), described('two')]);
    const other = await openHost(db, { userId: 'u', hostId: 'other' });
    await report([described('two')], other);
    const silent = { epoch, state: 'unresponsive', reason: 'silent', since: 9 } as const;
    await report([described('three', { state: 'offline' })]);
    const ids = (await all()).map(({ id }) => id);
    await store.saveStates(ids.map((id) => ({ id, ...silent, before: 'ready' })));
    expect(await all()).toMatchObject([silent, { state: 'offline' }, { state: 'ready', epoch: other }]);
  });
});
