import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { hostilePushes } from './packs.ts';
import { World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await World.create();
});
afterAll(() => world?.close());

/** Returns status and text. */
async function push(body: Buffer, projectId: string): Promise<{ status: number; text: string }> {
  const reply = await fetch(`${world.url}/git/${projectId}.git/git-receive-pack`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`x:${world.attacker.token}`).toString('base64')}`,
      'content-type': 'application/x-git-receive-pack-request',
    },
    body: new Uint8Array(body),
  });
  return { status: reply.status, text: await reply.text() };
}

test('a push that is not taken changes nothing, and whatever is pushed the service lives on', async () => {
  await world.renew();
  const { attacker, victim } = world;
  const tips = await attacker.api('GET', `/api/v2/automation/commits/${attacker.projectId}`);
  const tip = /"hash":"(\w{40})"/.exec(tips.text)?.[1] ?? '';
  const othersView = await world.viewOf(victim);
  let before = await world.viewOf(attacker);
  const taken: number[] = [];
  for (const [index, body] of fc.sample(hostilePushes(tip), { numRuns: 120, seed: 4 }).entries()) {
    const { status, text } = await push(body, index % 10 === 9 ? victim.projectId : attacker.projectId);
    expect(status, `push ${index}: ${text}`).toBeLessThan(500);
    const after = await world.viewOf(attacker);
    // `ok` is git's word for a ref that was set.
    if (/^....ok refs\//m.test(text)) taken.push(index);
    else expect(after, `push ${index}: ${text}`).toEqual(before);
    before = after;
  }
  expect(await world.viewOf(victim)).toEqual(othersView);
  const { status } = await attacker.api('GET', `/api/v2/automation/files/${attacker.projectId}`);
  expect([status, taken.length > 0]).toEqual([200, true]);
});
