import { afterAll, beforeAll, expect, test } from 'vitest';

import { fuzzHosts } from './host-campaign.ts';
import { World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await World.create();
});
afterAll(() => world?.close());

test('whatever a host says, the service lives on and no other user sees anything of it', async () => {
  expect(await fuzzHosts(world, { seed: 3, frames: 1000 })).toEqual([]);
  expect(world.server.hasExited).toBe(false);
});
