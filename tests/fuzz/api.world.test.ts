import { afterAll, beforeAll, expect, test } from 'vitest';

import { describeViolation, fuzzApi, fuzzRefusals } from './campaign.ts';
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
  // A fuzzer that is refused everywhere would find nothing.
  expect(succeeded.size).toBeGreaterThan(20);
});

test('a refused request changes nothing', async () => {
  const { violations } = await fuzzRefusals(world, { seed: 2, requests: 100 });
  expect(violations.map(describeViolation)).toEqual([]);
});
