import { afterAll, beforeAll, expect, test } from 'vitest';

import { fuzzPhone, PhoneWorld } from './phone-campaign.ts';

let world: PhoneWorld;
beforeAll(async () => {
  world = await PhoneWorld.create();
});
afterAll(() => world?.close());

const maxMs = 600_000;

test(
  'whatever a phone answers, its host lives on and the phone beside it is at work',
  async () => {
    const { violations, changed, statuses } = await fuzzPhone(world, { seed: 5, tampered: 200 });
    expect(violations).toEqual([]);
    // A host that gives up the phone at once would receive no changed messages.
    expect(changed).toBe(200);
    expect(statuses.get(200)).toBeGreaterThan(0);
  },
  maxMs,
);
