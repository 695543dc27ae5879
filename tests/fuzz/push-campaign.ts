import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';

import { hostilePushes } from './packs.ts';
import type { World } from './world.ts';

interface PushOutcome {
  violations: string[];
  /** Number of accepted pushes. */
  taken: number;
}

/** Pushes a body. Returns status and text. */
async function push(
  world: World,
  body: Buffer,
  projectId: string,
): Promise<{ status: number; text: string }> {
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

/** Pushes as the attacker, sometimes to another user's project. A refused push must change nothing. */
export async function fuzzPushes(
  world: World,
  { seed, pushes }: { seed: number; pushes: number },
): Promise<PushOutcome> {
  await world.renew();
  const { attacker, victim } = world;
  const outcome: PushOutcome = { violations: [], taken: 0 };
  const tips = await attacker.api('GET', `/api/v2/automation/commits/${attacker.projectId}`);
  const tip = /"hash":"(\w{40})"/.exec(tips.text)?.[1] ?? '';
  const othersView = await world.viewOf(victim);
  let before = await world.viewOf(attacker);
  for (const [index, body] of fc.sample(hostilePushes(tip), { numRuns: pushes, seed }).entries()) {
    const target = index % 10 === 9 ? victim : attacker;
    const { status, text } = await push(world, body, target.projectId);
    if (status >= 500) outcome.violations.push(`push ${index}: ${status} ${text}`);
    const after = await world.viewOf(attacker);
    // In git's protocol, `ok` confirms a ref update.
    if (/^....ok refs\//m.test(text)) outcome.taken += 1;
    else if (!isDeepStrictEqual(after, before)) outcome.violations.push(`push ${index} changed: ${text}`);
    before = after;
  }
  if (!isDeepStrictEqual(await world.viewOf(victim), othersView))
    outcome.violations.push('changed what another user sees');
  const { status } = await attacker.api('GET', `/api/v2/automation/files/${attacker.projectId}`);
  if (status !== 200) outcome.violations.push(`its files answer ${status} afterwards`);
  return outcome;
}
