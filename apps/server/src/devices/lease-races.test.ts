import { sql } from 'kysely';
import { expect, it } from 'vitest';

import { openTestDatabase } from '../testing/open-test-database.ts';
import { TestClock } from '../testing/test-clock.ts';
import { engines } from '../testing/test-database.ts';
import type { FleetDevice } from './fleet-device.ts';
import { createLeaseStore } from './lease-store.ts';
import { Leases } from './leases.ts';

// What its row refers to is of no matter here, and of a phone only its ID.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const phone = { id: 'phone' } as FleetDevice;

it.skipIf(!engines.some((engine) => engine === 'PostgreSQL'))(
  'a phone stays in the hand of who has used it at another server a moment ago',
  async () => {
    const db = await openTestDatabase('PostgreSQL');
    await sql`ALTER TABLE device_lease DISABLE TRIGGER ALL`.execute(db);
    const clock = new TestClock();
    const shares = { roleOf: () => 'launch' as const, nameOf: (userId: string) => userId };
    const open = (): Leases => new Leases({ clock, shares, store: createLeaseStore(db) });
    const [one, other] = [open(), open()];
    await one.take(phone, 'holder', 10_000);
    await other.load();
    clock.advance(9000);
    await one.use(phone, 'holder');
    clock.advance(2000);
    await expect(other.take(phone, 'somebody', 10_000)).rejects.toMatchObject({ code: 'device_leased' });
    clock.advance(9000);
    expect(await other.take(phone, 'somebody', 10_000)).toMatchObject({ user: { id: 'somebody' } });
  },
);
