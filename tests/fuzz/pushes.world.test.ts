import { afterAll, beforeAll, expect, test } from 'vitest';

import { fuzzPushes } from './push-campaign.ts';
import { World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await World.create();
});
afterAll(() => world?.close());

test('a push that is not taken changes nothing, and whatever is pushed the service lives on', async () => {
  const { violations, taken } = await fuzzPushes(world, { seed: 4, pushes: 120 });
  expect(violations).toEqual([]);
  expect(taken).toBeGreaterThan(0);
});
