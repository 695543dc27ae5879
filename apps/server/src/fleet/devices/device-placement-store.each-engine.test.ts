import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { createAccessStore } from '../../http/access/store.ts';
import type { Db } from '../../storage/db/database.ts';
import { GroupCommit } from '../../storage/db/group-commit.ts';
import { createHostStore } from '../hosts/store.ts';
import { openHost } from '../../testing/fleet-rows.ts';
import { openTestDatabase, engines } from '../../testing/engines/test-database.ts';
import { deviceElsewhere, type FleetDevice } from './fleet-device.ts';
import { createDevicePlacementStore, type DevicePlacementStore } from './device-placement-store.ts';
import { createDeviceStore } from './store.ts';

const now = 50;

describe.each(engines)('a device whose host is connected to another server, in %s,', (engine) => {
  let db: Db;
  let placed: DevicePlacementStore;
  let epoch: number;
  let id: string;

  beforeEach(async () => {
    db = await openTestDatabase(engine);
    placed = createDevicePlacementStore(db);
    await createAccessStore(db).insertUser({ id: 'u', name: 'u', role: 'user', created_at: 0 });
    epoch = await openHost(db, { userId: 'u', hostId: 'H', nodeId: 'there' });
    await sql`UPDATE node SET lease_until = ${Date.now() + 60_000}`.execute(db);
    id = await report(epoch);
  });

  const report = async (on: number): Promise<string> => {
    const about = { brand: 'Google', model: 'Pixel 9', android_version: '16', sdk_version: 36 };
    const size = { screen_width: 1080, screen_height: 2424 };
    const state = {
      state: 'ready' as const,
      reason: 'Ready',
      since: 3,
      warnings: '[]',
      battery_percent: null,
      last_seen_at: 4,
    };
    const device = {
      owner_id: 'u',
      identity: 's',
      serial: 's',
      phone_mark: '',
      boot_mark: '',
      host_id: 'H',
      host_name: 'host',
      ...about,
      ...size,
      ...state,
    };
    const store = createDeviceStore(db, new GroupCommit(db));
    const { stored } = await store.report([device], { epoch: on, maxDevices: 10 });
    return stored[0]?.id ?? '';
  };
  const seenFrom = async (here: string): Promise<FleetDevice | undefined> => {
    const row = await placed.find(id);
    return row && deviceElsewhere(row, here, now);
  };
  const offline = { state: 'offline', epoch: null, knowsSecrets: false, confirmedAt: null };

  it('is as its host said, with the epoch that reaches it', async () => {
    expect(await seenFrom('here')).toMatchObject({ state: 'ready', since: 3, epoch, knowsSecrets: true });
    const first = { after: '', limit: 10 };
    expect(await placed.listByIds([id, 'unknown'])).toEqual(await placed.listPageOf('u', first));
    expect(await placed.listPageOf('u', { ...first, after: id })).toEqual([]);
    expect(await placed.listPageOf('nobody', first)).toEqual([]);
    expect(await placed.countOffline()).toBe(0);
  });

  it('is offline for the server that the connection was of: there it has ended, and is about to be stored', async () => {
    expect(await seenFrom('there')).toMatchObject({ ...offline, since: now });
  });

  it('is offline since its connection ended', async () => {
    await createHostStore(db, new GroupCommit(db)).end([epoch], 7);
    const reason = expect.stringContaining('Its host host is not connected');
    expect(await seenFrom('here')).toMatchObject({ ...offline, reason, since: 7, isHostConnected: false });
    expect(await placed.countOffline()).toBe(1);
  });

  it('is offline when its host has connected anew and has not said that it sees it', async () => {
    const newer = await openHost(db, { userId: 'u', hostId: 'h', nodeId: 'there' });
    const reason = expect.stringContaining('does not see it');
    expect(await seenFrom('here')).toMatchObject({ ...offline, reason, since: 2, isHostConnected: true });
    expect(await placed.countOffline()).toBe(1);
    await report(newer);
    expect(await seenFrom('here')).toMatchObject({ state: 'ready', epoch: newer });
  });

  it('is offline when its server is gone', async () => {
    await sql`DELETE FROM node`.execute(db);
    expect(await seenFrom('here')).toMatchObject({ ...offline, since: 4 });
  });

  it.runIf(engine === 'PostgreSQL')('is offline when its server stands still', async () => {
    await sql`UPDATE node SET lease_until = 9`.execute(db);
    expect(await seenFrom('here')).toMatchObject({ ...offline, since: 9 });
  });
});
