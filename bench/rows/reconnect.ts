/**
 * 2,000 hosts with 50 phones each, of twenty users, connect at once: first with unknown phones, then again after all
 * their connections were cut at the same moment. Figure: the longest latency of another user's read in the meantime;
 * compared with the longest one in quiet. The hosts are simulated, in one process on the same processors.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Type } from 'typebox';

import type { Row, RowResult } from '../harness/row.ts';
import type { Stage } from '../harness/stage.ts';
import { ask, newToken, type Api } from '../http/api.ts';
import { longestDuring } from './longest-during.ts';

const fleet = { hosts: 2000, devicesPerHost: 50 };
const users = 20;
const quietMs = 5000;
/** Time in ms for the server to handle the cut connections. */
const settleMs = 3000;

export const reconnect: Row = {
  name: 'reconnect',
  title: 'the longest that a user waits for a read while 2,000 hosts with 100,000 phones connect at once',
  against: 'the longest in quiet',
  async measure(stage: Stage): Promise<RowResult> {
    const token = newToken();
    const server = await stage.start('server');
    const url = await server.call('listen', { dataDir: await stage.folder(), token }, Type.String());
    const watch = await stage.start('watch');
    const herd = await stage.start('herd');
    const tokens = await hostTokens({ url, token });
    await herd.call('plan', { url, tokens, ...fleet }, Type.Unknown());
    const stretches: number[] = [];
    const longest = async (work: () => Promise<unknown>): Promise<number> => {
      await server.call('watchStretch', {}, Type.Unknown());
      const waitMs = await longestDuring(watch, { url, token }, work);
      stretches.push(await server.call('readStretch', {}, Type.Number()));
      return waitMs;
    };
    const connectMs: number[] = [];
    const connect = async (): Promise<void> => {
      connectMs.push(await herd.call('connect', {}, Type.Number()));
    };
    const quiet = await longest(() => sleep(quietMs));
    const unknown = await longest(connect);
    const cut = await longest(async () => {
      await herd.call('cut', {}, Type.Unknown());
      await sleep(settleMs);
    });
    const known = await longest(connect);
    const [unknownMs = 0, knownMs = 0] = connectMs;
    return {
      figure: Math.max(unknown, cut, known),
      baseline: quiet,
      unit: 'ms',
      targets: [{ of: 'figure', bound: 'at most', value: 250 }],
      notes: [
        `new phones: all connected after ${(unknownMs / 1000).toFixed(1)} s, longest wait ${unknown.toFixed(0)} ms`,
        `connections cut: longest wait ${cut.toFixed(0)} ms`,
        `known phones: all connected after ${(knownMs / 1000).toFixed(1)} s, longest wait ${known.toFixed(0)} ms`,
        `longest turn of the event loop: ${stretches.map((ms) => `${ms.toFixed(0)} ms`).join(', ')} (quiet, new, cut, known)`,
      ],
    };
  },
};

async function hostTokens(admin: Api): Promise<string[]> {
  const User = Type.Object({ user: Type.Object({ id: Type.String() }) });
  const Made = Type.Object({ secret: Type.String() });
  const tokens: string[] = [];
  for (let number = 0; number < users; number += 1) {
    const { user } = await ask(admin, '/api/v2/users', User, { name: `user ${number}` });
    const asked = { name: 'hosts', user_id: user.id, scopes: ['host'] };
    tokens.push((await ask(admin, '/api/v2/tokens', Made, asked)).secret);
  }
  return tokens;
}
