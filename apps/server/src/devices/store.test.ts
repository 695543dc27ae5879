import { beforeEach, describe, expect, it } from 'vitest';

import { createAccessStore } from '../access/store.ts';
import type { Db } from '../db/database.ts';
import { EpochOver } from '../db/epochs.ts';
import { GroupCommit } from '../db/group-commit.ts';
import { openHost } from '../testing/open-host.ts';
import { openTestDatabase } from '../testing/open-test-database.ts';
import { engines } from '../testing/test-database.ts';
import { createDeviceStore, type DescribedDevice, type DeviceStore } from './store.ts';

const described = (serial: string, about: Partial<DescribedDevice> = {}): DescribedDevice => ({
  ...{ owner_id: 'u', serial, host_id: 'h', host_name: 'host', brand: 'Google', model: 'Pixel 9' },
  ...{ android_version: '16', sdk_version: 36, screen_width: 1080, screen_height: 2424, last_seen_at: 1 },
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

  it('that two hosts report for the first time at once have one ID', async () => {
    const other = await openHost(db, { userId: 'u', hostId: 'other' });
    const serials = Array.from({ length: 30 }, (_, at) => `serial ${at}`);
    const reports = serials.map((serial) => described(serial));
    const [some, same] = await Promise.all([
      store.saveAll(reports, epoch),
      store.saveAll(reports.toReversed(), other),
    ]);
    const idOf = new Map(some.map(({ serial, id }) => [serial, id]));
    expect(same.map(({ serial, id }) => idOf.get(serial) === id)).toEqual(serials.map(() => true));
    expect(await store.listAll()).toHaveLength(30);
  });

  it('stay what they said they are when they are reported without it', async () => {
    const [before] = await store.saveAll([described('one')], epoch);
    const nothing = { brand: '', model: '', android_version: '', sdk_version: 0, screen_width: 0 };
    const [after] = await store.saveAll([described('one', { ...nothing, host_name: 'renamed' })], epoch);
    expect(after).toEqual({ ...before, host_name: 'renamed' });
  });

  it('are not changed over a connection that a newer one has replaced', async () => {
    await store.saveAll([described('one')], epoch);
    await openHost(db, { userId: 'u', hostId: 'h' });
    await expect(store.saveAll([described('one', { model: 'Late' })], epoch)).rejects.toThrow(EpochOver);
    expect(await store.listAll()).toMatchObject([{ model: 'Pixel 9' }]);
  });
});
