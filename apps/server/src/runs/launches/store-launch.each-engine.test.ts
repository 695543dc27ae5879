import { beforeEach, describe, expect, it } from 'vitest';
import type { OnlineDevice } from '../../fleet/devices/online-devices.ts';
import { createAccessStore } from '../../http/access/store.ts';
import type { Db } from '../../storage/db/database.ts';
import { GroupCommit } from '../../storage/db/group-commit.ts';
import { engines, openTestDatabase } from '../../testing/engines/test-database.ts';
import { openHost } from '../../testing/fleet-rows.ts';
import { ProjectMatchers } from '../../code/secrets/project-matchers.ts';
import { bundleOf } from './bundles.ts';
import { type LaunchRows, rowsOf } from './launch-rows.ts';
import type { Launch } from './launch.ts';
import { storeLaunch, type LaunchConflict } from './store-launch.ts';
import { createLaunchStore, type LaunchStore } from './store.ts';

const project = {
  projectId: 'p',
  ownerId: 'u',
  name: 'P',
  commit: null,
  dirty: false,
  files: { treeId: 't' },
};

describe.each(engines)('a launch that is stored, in %s,', (engine) => {
  let db: Db;
  let commits: GroupCommit;
  let launches: LaunchStore;
  let epoch: number;

  beforeEach(async () => {
    db = await openTestDatabase(engine);
    for (const id of ['u', 'other'])
      await createAccessStore(db).insertUser({ id, name: id, role: 'user', created_at: 0 });
    commits = new GroupCommit(db);
    launches = createLaunchStore(db, commits);
    epoch = await openHost(db, { userId: 'u', hostId: 'h' });
  });

  const on = (id: string, at = epoch): OnlineDevice =>
    ({ device: { id, serial: id, ownerId: 'u', stored: { host_id: 'h' } }, epoch: at }) as OnlineDevice;
  const launchOf = (about: Partial<Launch>): Launch => {
    const devices = about.devices ?? [on('phone')];
    return {
      id: crypto.randomUUID(),
      launcher: { userId: 'u', tokenName: 't', projectIds: null, phones: null, budget: null },
      auditEvent: null,
      key: null,
      name: null,
      automationId: 'p',
      bundle: bundleOf({ code: '', sourceMap: null }),
      project: project as unknown as Launch['project'],
      code: null,
      automationParameters: {},
      jobVariables: {},
      masks: [],
      film: false,
      phoneSettings: undefined,
      secrets: {},
      ...about,
      devices,
      deviceIds: devices.map(({ device }) => device.id),
    };
  };
  const store = async (launch: Launch): Promise<LaunchConflict | undefined> => {
    const rows: LaunchRows = await rowsOf(launch, new ProjectMatchers(), 1);
    const runLimits = {
      requireRoom: async () => undefined,
      withRoom: async () => Promise.reject(new Error()),
    };
    const audit = { writeOf: () => async () => undefined };
    return storeLaunch({ commits, launches, runLimits, audit }, launch, rows, undefined);
  };
  const count = async (): Promise<number> =>
    (await db.selectFrom('run').select('id').execute()).length +
    (await db.selectFrom('launch').select('id').execute()).length;

  it('is not on a connection that a newer one has replaced', async () => {
    const earlier = epoch;
    epoch = await openHost(db, { userId: 'u', hostId: 'h' });
    const both = [on('one', earlier), on('two')];
    expect(await store(launchOf({ devices: both }))).toEqual({ reason: 'reconnected' });
    expect(await count()).toBe(0);
    expect(await store(launchOf({ devices: [on('one'), on('two')] }))).toBeUndefined();
    expect(await count()).toBe(3);
  });

  it('is the only one of its key, of launches at the same moment', async () => {
    const key = { launchId: 'key', fingerprint: 'f' };
    const wanted = Array.from({ length: 4 }, (_, at) => launchOf({ key, devices: [on(`phone-${at}`)] }));
    const conflicts = await Promise.all(wanted.map(store));
    const stored = wanted.find((_, at) => conflicts[at] === undefined);
    const others = conflicts.filter((conflict) => conflict !== undefined);
    expect(others).toHaveLength(3);
    for (const other of others)
      expect(other).toMatchObject({ reason: 'key', launch: { id: stored?.id, fingerprint: 'f' } });
    expect(await count()).toBe(2);
    const { userId: _, ...rest } = launchOf({}).launcher;
    const launcher = { ...rest, userId: 'other' };
    expect(await store(launchOf({ key, launcher, devices: [on('free')] }))).toBeUndefined();
  });

  it('is the only one of its project on a phone, whoever launches it', async () => {
    const launcher = { ...launchOf({}).launcher, userId: 'other' };
    const wanted = [
      launchOf({ devices: [on('one'), on('two')] }),
      launchOf({ devices: [on('two'), on('three')], launcher }),
    ];
    const conflicts = await Promise.all(wanted.map(store));
    expect(conflicts.filter((conflict) => conflict === undefined)).toHaveLength(1);
    expect(conflicts).toContainEqual({ reason: 'busy', deviceIds: new Set(['two']) });
    expect(await count()).toBe(3);
    const direct = launchOf({
      project: null,
      code: 'x',
      key: { launchId: 'd', fingerprint: 'f' },
      devices: [on('two')],
    });
    expect(await store(direct)).toBeUndefined();
  });

  it('leaves nothing when its claim is refused', async () => {
    const claim = async (): Promise<void> => Promise.reject(new Error('taken'));
    await expect(store(launchOf({ claim }))).rejects.toThrow('taken');
    expect(await count()).toBe(0);
  });
});
