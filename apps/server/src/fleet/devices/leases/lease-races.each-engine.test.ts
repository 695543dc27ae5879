import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Db } from '../../../storage/db/database.ts';
import { openTestDatabase, engines } from '../../../testing/engines/test-database.ts';
import { TestClock } from '../../../testing/test-clock.ts';
import type { FleetDevice } from '../fleet-device.ts';
import { createLeaseStore, type LeaseStore } from './lease-store.ts';
import { Leases } from './leases.ts';

// The ID of the phone alone matters here, and not the rows that a lease references.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const phone = { id: 'phone' } as FleetDevice;
const shares = { roleOf: () => 'launch' as const, nameOf: (userId: string) => userId };

describe.each(engines)('leases, in %s,', (engine) => {
  let db: Db;
  let clock: TestClock;

  beforeEach(async () => {
    db = await openTestDatabase(engine);
    const withoutReferences = {
      SQLite: sql`PRAGMA foreign_keys = OFF`,
      PostgreSQL: sql`ALTER TABLE device_lease DISABLE TRIGGER ALL`,
    };
    await withoutReferences[engine].execute(db);
    clock = new TestClock();
  });

  const open = (store: LeaseStore = createLeaseStore(db)): Leases => new Leases({ clock, shares, store });

  it('stay with the user who has used the device at another server a moment ago', async () => {
    const [one, other] = [open(), open()];
    await one.take(phone, { userId: 'holder', durationMs: 10_000 });
    await other.load();
    clock.advance(9000);
    await one.use(phone, { userId: 'holder' });
    clock.advance(2000);
    const somebody = { userId: 'somebody', durationMs: 10_000 };
    await expect(other.take(phone, somebody)).rejects.toMatchObject({ code: 'device_leased' });
    clock.advance(9000);
    expect(await other.take(phone, somebody)).toMatchObject({ user: { id: 'somebody' } });
  });

  it('for one program alone are taken once, also by a server that has not heard of the other', async () => {
    const servers = [open(), open()];
    const alone = { userId: 'holder', durationMs: 10_000, isExclusive: true };
    const taken = await Promise.allSettled(servers.map((server) => server.take(phone, alone)));
    expect(taken.toSorted((a, b) => a.status.localeCompare(b.status))).toEqual([
      { status: 'fulfilled', value: expect.objectContaining({ lease_id: expect.any(String) }) },
      { status: 'rejected', reason: expect.objectContaining({ code: 'device_leased' }) },
    ]);
    // Either server may have been first.
    const first = taken.findIndex(({ status }) => status === 'fulfilled');
    const [one, other] = first === 0 ? servers : servers.toReversed();
    const leaseId =
      taken.flatMap((claim) => (claim.status === 'fulfilled' ? claim.value.lease_id : []))[0] ?? '';
    await other?.use(phone, { userId: 'holder', leaseId });
    for (const stranger of [{ userId: 'holder' }, { userId: 'other', leaseId }])
      await expect(other?.use(phone, stranger)).rejects.toMatchObject({ code: 'device_leased' });
    await one?.end(phone);
    const late = other?.requireFreeNow(phone, { userId: 'holder', leaseId });
    await expect(late).rejects.toMatchObject({ code: 'lease_lost' });
  });

  it('that were taken since are not ended by who gives back the one before', async () => {
    const [one, other] = [open(), open()];
    await one.take(phone, { userId: 'holder', durationMs: 10_000 });
    await other.load();
    await one.end(phone);
    await one.take(phone, { userId: 'holder', durationMs: 10_000 });
    expect(await other.end(phone)).toBe(false);
    for (const server of [one, other])
      await expect(server.requireFreeNow(phone, { userId: 'somebody' })).rejects.toMatchObject({
        code: 'device_leased',
      });
  });

  it('are stored when what was in the way ends while they are taken', async () => {
    const store = createLeaseStore(db);
    const one = open();
    await one.take(phone, { userId: 'holder', durationMs: 10_000 });
    const other = open({
      ...store,
      async list() {
        clock.advance(11_000);
        return store.list();
      },
    });
    await other.take(phone, { userId: 'somebody', durationMs: 60_000 });
    await expect(one.requireFreeNow(phone, { userId: 'holder' })).rejects.toMatchObject({
      code: 'device_leased',
    });
  });

  it('that expire are told of, though the rows are read again while they are deleted', async () => {
    const store = createLeaseStore(db);
    const leases: Leases = open({
      ...store,
      async deleteExpired(now) {
        const deviceIds = await store.deleteExpired(now);
        await leases.load();
        return deviceIds;
      },
    });
    await leases.take(phone, { userId: 'holder', durationMs: 10_000 });
    const told: string[] = [];
    leases.onChange(({ id }) => told.push(id));
    clock.advance(11_000);
    await leases.sweep({ findAll: async () => new Map([[phone.id, phone]]) });
    expect(told).toEqual(['phone']);
    await leases.sweep({ findAll: async () => new Map([[phone.id, phone]]) });
    expect(told).toEqual(['phone']);
  });

  it('keep the code of acts for as long as they hold, at every server', async () => {
    const [one, other] = [open(), open()];
    const { lease_id: leaseId } = await one.take(phone, { userId: 'holder', durationMs: 10_000 });
    await one.addCode(phone, { userId: 'holder' }, ['first();', 'second();']);
    await one.addCode(phone, { userId: 'holder' }, ["third('\0');"]);
    await one.addCode(phone, { userId: 'somebody' }, ['other();']);
    expect(await other.readCode(phone, { userId: 'holder', leaseId })).toEqual([
      'first();',
      'second();',
      "third('');",
    ]);
    clock.advance(11_000);
    await one.addCode(phone, { userId: 'holder' }, ['late();']);
    await other.take(phone, { userId: 'somebody', durationMs: 10_000 });
    expect(await other.readCode(phone, { userId: 'somebody' })).toEqual([]);
    expect(await db.selectFrom('lease_code').selectAll().execute()).toEqual([]);
  });

  it('keep the code of their last acts, in rows and bytes, and tell of what was left out', async () => {
    const leases = open();
    const holder = { userId: 'holder' };
    await leases.take(phone, { ...holder, durationMs: 10_000 });
    const keptBytes = async (): Promise<number> => {
      const rows = await db.selectFrom('lease_code').select('lines').execute();
      return rows.reduce((sum, { lines }) => sum + Buffer.byteLength(lines), 0);
    };
    for (let act = 0; act < 8; act += 1) await leases.addCode(phone, holder, [`${act}${'ä'.repeat(25_000)}`]);
    expect(await keptBytes()).toBeLessThan(256 * 1024);
    const [first = '', ...kept] = await leases.readCode(phone, holder);
    expect(first).toContain('left out');
    expect(kept.map((line) => line[0])).toEqual(['3', '4', '5', '6', '7']);
  });
});
