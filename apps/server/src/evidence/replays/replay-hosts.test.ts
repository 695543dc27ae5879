import { expect, it } from 'vitest';

import { HostRequests } from '../../fleet/hosts/host-requests.ts';
import { ReplayHosts } from './replay-hosts.ts';

const code = { code: '', source_map: '', parameters: {}, job_variables: {}, fetches: [] };
const verdict = { kind: 'state', state: 'Cart', stage: '', next: 'acts', did: [], message: null };

/** Creates hosts of which the first three disconnect during the question, but are still listed as connected. */
function hostsThatGoAway(): ReplayHosts {
  let left = 3;
  const ask = async (): Promise<Buffer> => {
    if (left-- === 0) return Buffer.from(JSON.stringify({ verdicts: [verdict] }));
    const requests = new HostRequests();
    const answer = requests.ask(() => undefined);
    requests.close();
    return answer;
  };
  return new ReplayHosts({ connected: { ask }, known: { listReplaying: async () => [1] } });
}

it('no screen is blamed for hosts that have gone, also while other servers list them', async () => {
  const screens = [{ tree_json: '{}', stage: null }];
  const verdicts = await hostsThatGoAway().replay(['owner'], { code, screens }, async () => true);
  expect(verdicts).toEqual([verdict]);
});

it('an answer of more than is parsed in a moment is none, and the screen is blamed', async () => {
  const much = { verdicts: [verdict], more: Array.from({ length: 200_001 }, () => 0) };
  const ask = async (): Promise<Buffer> => Buffer.from(JSON.stringify(much));
  const hosts = new ReplayHosts({ connected: { ask }, known: { listReplaying: async () => [1] } });
  const screens = [{ tree_json: '{}', stage: null }];
  expect(await hosts.replay(['owner'], { code, screens }, async () => true)).toMatchObject([
    { kind: 'limit' },
  ]);
});
