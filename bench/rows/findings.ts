/**
 * Each attack of the report on the first release, played by an ordinary user against the service, and the longest that
 * another user meanwhile waited for a read; against the longest in as much quiet. The notes are the table: attack, what
 * came of it then, what comes of it now. What shows in no wait is held by the tests that are named.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Type } from 'typebox';

import type { Attack, Ground } from '../attacks/attack.ts';
import { gitAttacks } from '../attacks/git-attacks.ts';
import { heldByTests } from '../attacks/held-by-tests.ts';
import { requestAttacks } from '../attacks/request-attacks.ts';
import type { Row, RowResult } from '../harness/row.ts';
import type { Stage } from '../harness/stage.ts';
import { ask, listDeviceIds, type Api } from '../http/api.ts';
import { createProject } from '../projects/push-project.ts';
import { longestDuring } from './longest-during.ts';
import { startServerWithHosts } from './server-with-hosts.ts';

const quietMs = 5000;
/** The longest that the suite of fuzzed requests allows as well. */
const mostMs = 250;

export const findings: Row = {
  name: 'findings',
  title: 'the longest that a user waits for a read while another plays each attack of the report',
  against: 'the longest in quiet',
  async measure(stage: Stage): Promise<RowResult> {
    const { api } = await startServerWithHosts(stage, { hosts: 1, devicesPerHost: 1 });
    const ground = await groundOf(stage, api);
    const watch = await stage.start('watch');
    const quiet = await longestDuring(watch, api, () => sleep(quietMs));
    const lines: string[] = [];
    let longest = 0;
    for (const attack of [...requestAttacks, ...gitAttacks].toSorted(byFinding)) {
      let now = '';
      const waitMs = await longestDuring(watch, api, async () => {
        now = await attack.play(ground);
      });
      longest = Math.max(longest, waitMs);
      lines.push(`${attack.finding}. ${attack.attack} | ${attack.before} | ${waitMs.toFixed(0)} ms; ${now}`);
    }
    const held = heldByTests.map(([finding, before, tests]) => `${finding}. ${before} | held by ${tests}`);
    const target = { of: 'figure', bound: 'at most', value: mostMs } as const;
    return { figure: longest, baseline: quiet, unit: 'ms', targets: [target], notes: [...lines, ...held] };
  },
};

const byFinding = (one: Attack, other: Attack): number => Number(one.finding) - Number(other.finding);

/** A user of their own, with a phone and a project. */
async function groundOf(stage: Stage, admin: Api): Promise<Ground> {
  const User = Type.Object({ user: Type.Object({ id: Type.String() }) });
  const { user } = await ask(admin, '/api/v2/users', User, { name: 'hostile' });
  const createToken = async (fields: object): Promise<Api> => {
    const scopes = ['read', 'launch', 'edit', 'host'];
    const asked = { name: 'hostile', user_id: user.id, scopes, ...fields };
    const Made = Type.Object({ secret: Type.String() });
    return { url: admin.url, token: (await ask(admin, '/api/v2/tokens', Made, asked)).secret };
  };
  const api = await createToken({});
  const hosts = await stage.start('hosts');
  await hosts.call('giveWay', {}, Type.Unknown());
  const fleet = { hosts: 1, devicesPerHost: 1, heartbeats: true };
  await hosts.call('connect', { ...api, ...fleet }, Type.Unknown());
  const [deviceId = ''] = await listDeviceIds(api);
  const [project, folder] = [await createProject(api), await stage.folder()];
  return { api, createToken, deviceId, project, folder };
}
