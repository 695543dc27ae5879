/**
 * Compared: how long a user waits for a write, a clone, a launch and a poll of logs while another user does all of this at
 * once: 5 projects of types that take the checker long, 32 requests whose bodies come by the byte, launches with a pattern
 * that takes exponentially long, 4 uploads of 75 MB, a host that floods with logs, and 40 launches; and the same while that
 * user does nothing. Shown is the one of the four that became slowest, the notes have all.
 *
 * Fair because service, fleet and requests are the same, and the two are measured in turns. The attacker's programs run on
 * the processors of the same machine, and what they take of those is in the figure.
 */
import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Type } from 'typebox';

import { median } from '../harness/rounds.ts';
import type { Row, RowResult } from '../harness/row.ts';
import type { Stage } from '../harness/stage.ts';
import {
  ask,
  askText,
  directLaunch,
  launchOnEach,
  launchPath,
  listDeviceIds,
  type Api,
} from '../http/api.ts';
import { createProject } from '../projects/push-project.ts';
import { startServerWithHosts } from './server-with-hosts.ts';

const rounds = 3;
const timesARound = 4;
/** Until every attack is under way. */
const leadMs = 3000;
const floodMs = 30_000;
const run = promisify(execFile);

type Deeds = Readonly<Record<string, () => Promise<unknown>>>;
type Waits = Map<string, number[]>;

export const hostile: Row = {
  name: 'hostile',
  title:
    'what a user waits for while another user is at all limits at once: the slowest of write, clone, launch, poll',
  against: 'the same in quiet',
  async measure(stage: Stage): Promise<RowResult> {
    const { api, hosts } = await startServerWithHosts(stage, { hosts: 1, devicesPerHost: 1 });
    const deeds = await deedsOf(stage, api);
    const endRuns = () => hosts.call('endRuns', {}, Type.Unknown());
    const attacker = await createUser(api);
    const flood = await stage.start('hosts');
    await flood.call(
      'connect',
      { ...attacker, hosts: 1, devicesPerHost: 1, heartbeats: true },
      Type.Unknown(),
    );
    const [deviceId = ''] = await listDeviceIds(attacker);
    await launchOnEach(attacker, [deviceId]);
    await flood.call('prepareLogs', { least: 1000, most: 1000, window: 8 }, Type.Unknown());
    const user = await stage.start('hostile-user');
    const [quiet, busy]: [Waits, Waits] = [new Map(), new Map()];
    await observe(deeds, endRuns, new Map());
    let answers = '';
    for (let round = 0; round < rounds; round += 1) {
      await observe(deeds, endRuns, quiet);
      const flooded = flood.call('sendLogs', { durationMs: floodMs / rounds }, Type.Unknown());
      // What fails first is told, not that the flood ended with it.
      flooded.catch(() => undefined);
      await user.call('begin', { ...attacker, deviceId }, Type.Unknown());
      await sleep(leadMs);
      await observe(deeds, endRuns, busy);
      answers = await user.call('end', {}, Type.String());
      await flooded;
    }
    return resultOf(quiet, busy, answers);
  },
};

async function createUser(api: Api): Promise<Api> {
  const User = Type.Object({ user: Type.Object({ id: Type.String() }) });
  const { user } = await ask(api, '/api/v2/users', User, { name: 'hostile' });
  const made = { name: 'hostile', user_id: user.id, scopes: ['read', 'launch', 'edit', 'host'] };
  const { secret } = await ask(api, '/api/v2/tokens', Type.Object({ secret: Type.String() }), made);
  return { url: api.url, token: secret };
}

/** What the user does, each once. */
async function deedsOf(stage: Stage, api: Api): Promise<Deeds> {
  const { id, cloneUrl } = await createProject(api);
  const [deviceId = ''] = await listDeviceIds(api);
  const [launched] = await launchOnEach(api, [deviceId]);
  const clone = path.join(await stage.folder(), 'clone');
  let writes = 0;
  const write = async (): Promise<void> => {
    const reply = await fetch(new URL(`/api/v2/automation/file/${id}`, api.url), {
      method: 'PUT',
      headers: { authorization: `Bearer ${api.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ path: 'main.ts', content: `console.log(${(writes += 1)});\n` }),
    });
    if (!reply.ok) throw new Error(await reply.text());
  };
  await write();
  return {
    write,
    clone: async () => {
      await run('git', ['clone', '--quiet', cloneUrl, clone]);
      await rm(clone, { recursive: true });
    },
    launch: () => askText(api, launchPath, directLaunch(deviceId)),
    poll: () =>
      askText(api, '/api/v2/devices/automationLogs', {
        device_id: deviceId,
        automation_ids: [launched?.launch_id],
      }),
  };
}

async function observe(deeds: Deeds, endRuns: () => Promise<unknown>, waits: Waits): Promise<void> {
  for (let time = 0; time < timesARound; time += 1) {
    for (const [name, deed] of Object.entries(deeds)) {
      const begunAt = performance.now();
      await deed();
      waits.set(name, [...(waits.get(name) ?? []), performance.now() - begunAt]);
    }
    await endRuns();
  }
}

function resultOf(quiet: Waits, busy: Waits, answers: string): RowResult {
  const all = [...quiet].map(([name, waits]) => {
    const during = busy.get(name) ?? [];
    return { name, baseline: median(waits), figure: median(during), longest: Math.max(...during) };
  });
  const [worst] = all.toSorted((one, other) => other.figure / other.baseline - one.figure / one.baseline);
  const note = ({ name, baseline, figure, longest }: (typeof all)[number]): string =>
    `${name}: ${baseline.toFixed(1)} ms in quiet, ${figure.toFixed(1)} ms beside the attack (${(figure / baseline).toFixed(1)} times), at most ${longest.toFixed(0)} ms`;
  return {
    figure: worst?.figure ?? Number.NaN,
    baseline: worst?.baseline ?? Number.NaN,
    unit: 'ms',
    targets: [{ of: 'ratio', bound: 'at most', value: 3 }],
    notes: [...all.map(note), `answers to the attacker: ${answers}`],
  };
}
