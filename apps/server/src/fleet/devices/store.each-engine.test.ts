import { beforeEach, describe, expect, it } from 'vitest';
import { createAccessStore } from '../../http/access/store.ts';
import type { Db } from '../../storage/db/database.ts';
import { EpochOver } from '../../storage/db/epochs.ts';
import { GroupCommit } from '../../storage/db/group-commit.ts';
import { createHostStore } from '../hosts/store.ts';
import { openHost } from '../../testing/fleet-rows.ts';
import { openTestDatabase, engines } from '../../testing/engines/test-database.ts';
import { identityAtHost } from './device-identity.ts';
import { createDeviceStore, type DescribedDevice, type DeviceStore } from './store.ts';
import type { StoredDevice } from './stored-device.ts';

const described = (serial: string, about: Partial<DescribedDevice> = {}): DescribedDevice => ({
  owner_id: 'u',
  identity: serial,
  serial,
  phone_mark: '',
  boot_mark: '',
  host_id: 'h',
  host_name: 'host',
  brand: 'Google',
  model: 'Pixel 9',
  android_version: '16',
  sdk_version: 36,
  screen_width: 1080,
  screen_height: 2424,
  last_seen_at: 1,
  state: 'ready',
  reason: 'Ready for automations',
  since: 1,
  warnings: '[]',
  battery_percent: null,
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
  const report = (
    devices: readonly DescribedDevice[],
    on = epoch,
    maxDevices = 1000,
  ): Promise<StoredDevice[]> => store.report(devices, { epoch: on, maxDevices }).then(({ stored }) => stored);

  const letLive = (): Promise<unknown> =>
    db
      .updateTable('node')
      .set({ lease_until: Date.now() + 60_000 })
      .execute();
  const atHost = (host: string, serial: string, about: Partial<DescribedDevice> = {}): DescribedDevice =>
    described(serial, { host_id: host, identity: identityAtHost({ host_id: host, serial }), ...about });

  it('that two hosts report for the first time at once have one ID, and one host', async () => {
    const other = await openHost(db, { userId: 'u', hostId: 'other' });
    await letLive();
    const serials = Array.from({ length: 30 }, (_, at) => `serial ${at}`);
    const reports = serials.map((serial) => described(serial));
    const theirs = reports.toReversed().map((one) => ({ ...one, host_id: 'other' }));
    const outcomes = await Promise.all([
      store.report(reports, { epoch, maxDevices: 1000 }),
      store.report(theirs, { epoch: other, maxDevices: 1000 }),
    ]);
    const stored = outcomes.flatMap((outcome) => outcome.stored);
    expect(new Set(stored.map(({ id }) => id)).size).toBe(30);
    expect(stored).toHaveLength(30);
    expect(outcomes.flatMap(({ waiting }) => waiting)).toHaveLength(30);
    expect(await all()).toHaveLength(30);
  });

  it('that hosts call by their places are as many as the hosts, and keep their IDs', async () => {
    const other = await openHost(db, { userId: 'u', hostId: 'other' });
    const [mine] = await report([atHost('h', 'usb:1-1', { model: 'A' })]);
    const [theirs] = await report([atHost('other', 'usb:1-1', { model: 'B' })], other);
    expect(theirs?.id).not.toBe(mine?.id);
    await createHostStore(db, new GroupCommit(db)).end([epoch], 5);
    const [again] = await report([atHost('other', 'usb:1-1', { model: 'B', reason: 'again' })], other);
    expect(again).toMatchObject({ id: theirs?.id, model: 'B', serial: 'usb:1-1' });
    expect((await all()).map(({ model }) => model).toSorted()).toEqual(['A', 'B']);
  });

  it('of an earlier release keep their IDs at their last host, and are no phone of another one', async () => {
    const other = await openHost(db, { userId: 'u', hostId: 'other' });
    const [before] = await report([described('usb:1-1', { host_id: 'H' })]);
    const [theirs] = await report([atHost('other', 'usb:1-1')], other);
    const [mine] = await report([atHost('h', 'usb:1-1')]);
    expect(mine).toMatchObject({ id: before?.id, identity: 'h/usb:1-1' });
    expect(theirs?.id).not.toBe(before?.id);
    expect(await report([atHost('h', 'usb:1-1', { state: 'offline' })])).toMatchObject([{ id: before?.id }]);
    expect(await all()).toHaveLength(2);
  });

  it('of two hosts with one serial number are two when their boots differ, whoever leaves', async () => {
    const other = await openHost(db, { userId: 'u', hostId: 'other' });
    await letLive();
    const theirs = (about: Partial<DescribedDevice> = {}): DescribedDevice =>
      described('one', { host_id: 'other', boot_mark: 'b', ...about });
    const [mine] = await report([described('one', { boot_mark: 'a' })]);
    expect(await report([theirs({ state: 'booting' })], other)).toEqual([]);
    const [second] = await report([theirs()], other);
    expect(second).toMatchObject({ serial: 'one', identity: 'other/one', boot_mark: 'b' });
    expect(second?.id).not.toBe(mine?.id);
    await report([described('one', { boot_mark: 'a', state: 'offline' })]);
    const [still] = await report([theirs({ reason: 'still' })], other);
    expect(still?.id).toBe(second?.id);
  });

  it('that two hosts reach are one, of the host that has it ready, until that lets go of it', async () => {
    const other = await openHost(db, { userId: 'u', hostId: 'other' });
    await letLive();
    const theirs = described('one', { host_id: 'other', boot_mark: 'a' });
    const [mine] = await report([described('one', { boot_mark: 'a' })]);
    expect(await store.report([theirs], { epoch: other, maxDevices: 1000 })).toMatchObject({
      stored: [],
      waiting: ['one'],
    });
    await report([described('one', { state: 'offline' })]);
    expect(await report([theirs], other)).toMatchObject([{ id: mine?.id, host_id: 'other' }]);
  });

  it('move to another host with their number, also after a reset; another model or a shared number does not', async () => {
    const other = await openHost(db, { userId: 'u', hostId: 'other' });
    const away = (serial: string): DescribedDevice =>
      described(serial, { phone_mark: 'a', state: 'offline' });
    const comes = (serial: string, about: Partial<DescribedDevice> = {}): DescribedDevice =>
      described(serial, { host_id: 'other', phone_mark: 'b', ...about });
    await report([away('reset'), away('model'), away('shared'), atHost('h', 'shared@usb:1-2')]);
    const idOf = new Map((await all()).map(({ serial, id }) => [serial, id]));
    const came = await report([comes('reset'), comes('model', { model: 'Other' }), comes('shared')], other);
    const moved = came.filter(({ serial, id }) => idOf.get(serial) === id).map(({ serial }) => serial);
    expect(moved).toEqual(['reset']);
    expect(came).toHaveLength(3);
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
      store.report(first ?? [], { epoch, maxDevices: 4 }),
      store.report(second ?? [], { epoch: other, maxDevices: 4 }),
    ]);
    expect(outcomes.map(({ refused }) => refused)).toEqual(expect.arrayContaining([0, 2]));
    const known = await all();
    expect(known).toHaveLength(4);
    await createHostStore(db, new GroupCommit(db)).end([epoch], 5);
    const again = known.map(({ serial }) => described(serial, { model: 'Changed' }));
    expect(await report(again, other, 0)).toHaveLength(4);
  });

  it('are with the host that can use them, until that one is gone', async () => {
    const other = await openHost(db, { userId: 'u', hostId: 'other' });
    await letLive();
    await report([described('one')]);
    const unusable = described('one', { state: 'unauthorized', host_name: 'other' });
    expect(await report([unusable], other)).toEqual([]);
    expect(await all()).toMatchObject([{ state: 'ready', epoch }]);
    await createHostStore(db, new GroupCommit(db)).end([epoch], 5);
    expect(await report([unusable], other)).toMatchObject([{ state: 'unauthorized', epoch: other }]);
  });

  it('have the state that their own host gave them', async () => {
    await report([described('one'), described('two', { state: 'offline' })]);
    const other = await openHost(db, { userId: 'u', hostId: 'other' });
    await report([described('two')], other);
    const silent = { epoch, state: 'unresponsive', reason: 'silent', since: 9 } as const;
    await report([described('three', { state: 'offline' })]);
    const ids = (await all()).map(({ id }) => id);
    await store.saveStates(ids.map((id) => ({ id, ...silent, before: 'ready' })));
    expect(await all()).toMatchObject([silent, { state: 'offline' }, { state: 'ready', epoch: other }]);
  });
});
