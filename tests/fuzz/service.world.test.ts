/**
 * Sends unexpected requests to a service over HTTP, as hosts and by git; `npm run lab -- fuzz` does the same for
 * longer.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';

import { describeViolation, fuzzApi, fuzzRefusals } from './campaign.ts';
import { fuzzHosts } from './host-campaign.ts';
import { fuzzPushes } from './push-campaign.ts';
import { World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await World.create();
});
afterAll(() => world?.close());

test('requests made from the document meet no fault, and change nothing of another user', async () => {
  const { violations, succeeded } = await fuzzApi(world, {
    seed: 1,
    requests: 1500,
    atOnce: 16,
    checkEvery: 1,
  });
  expect(violations.map(describeViolation)).toEqual([]);
  // A fuzzer whose requests are all refused would find nothing.
  expect(succeeded.size).toBeGreaterThan(20);
});

test('a refused request changes nothing', async () => {
  const { violations } = await fuzzRefusals(world, { seed: 2, requests: 100 });
  expect(violations.map(describeViolation)).toEqual([]);
});

test('whatever a host says, the service lives on and no other user sees anything of it', async () => {
  expect(await fuzzHosts(world, { seed: 3, frames: 1000 })).toEqual([]);
  expect(world.server.hasExited).toBe(false);
});

test('a push that is not taken changes nothing, and whatever is pushed the service lives on', async () => {
  const { violations, taken } = await fuzzPushes(world, { seed: 4, pushes: 120 });
  expect(violations).toEqual([]);
  expect(taken).toBeGreaterThan(0);
});
