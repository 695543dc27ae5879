/**
 * Compared: how long a user waits for a write, a clone, a launch and a poll of logs while another user does all of this at
 * once: 5 projects of types that the checker never ends with, 32 requests whose bodies come by the byte, launches with a
 * pattern that takes exponentially long, 4 uploads of 48 MB that do not pack, a host that floods with logs, and 40 launches;
 * and the same while that user does nothing. Shown is the one of the four that became slowest, the notes have all.
 *
 * Fair because service, fleet and requests are the same, and the two are measured in turns. The attacker's own programs
 * run on the processors of the same machine, at the lowest priority, so that they take little of what they would not have
 * on another one; that all attacks are under way is what the answers in the notes tell.
 */
import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Type } from 'typebox';

import type { BenchProcess } from '../harness/bench-process.ts';
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

const rounds = 4;
const timesARound = 8;
/** Until every attack is under way. */
const leadMs = 3000;
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
    const observing = async (waits: Waits): Promise<void> => {
      await observe(deeds, waits);
      await hosts.call('endRuns', {}, Type.Unknown());
    };
    const attacker = await startAttacker(stage, api);
    const [quiet, busy]: [Waits, Waits] = [new Map(), new Map()];
    await observing(new Map());
    for (let round = 0; round < rounds; round += 1) {
      await untilNothingCompiles(api);
      await observing(quiet);
      await attacker.begin();
      await sleep(leadMs);
      await observing(busy);
      await attacker.end();
    }
    return resultOf(quiet, busy, await attacker.answers());
  },
};

interface Attacker {
  begin(): Promise<void>;
  end(): Promise<void>;
  answers(): Promise<string[]>;
}

/** A user with a host and a phone, at a machine of their own as far as that can be. */
async function startAttacker(stage: Stage, api: Api): Promise<Attacker> {
  const own = await createUser(api);
  const [flood, user] = [await stage.start('hosts'), await stage.start('hostile-user')];
  for (const program of [flood, user]) await program.call('giveWay', {}, Type.Unknown());
  const deviceId = await connectFlood(flood, own);
  await user.call('prepare', { ...own, deviceId }, Type.Unknown());
  const state = { logs: 0, isFlooding: false };
  let flooded: Promise<unknown> = Promise.resolve();
  return {
    async begin() {
      state.isFlooding = true;
      flooded = (async () => {
        while (state.isFlooding) state.logs += await sendLogs(flood);
      })();
      await user.call('begin', {}, Type.Unknown());
    },
    async end() {
      state.isFlooding = false;
      await user.call('end', {}, Type.Unknown());
      await flooded;
    },
    answers: async () => [
      ...(await user.call('answers', {}, Type.Array(Type.String()))),
      `log entries: ${state.logs} stored`,
    ],
  };
}

async function connectFlood(flood: BenchProcess, own: Api): Promise<string> {
  const fleet = { hosts: 1, devicesPerHost: 1, heartbeats: true };
  await flood.call('connect', { ...own, ...fleet }, Type.Unknown());
  const [deviceId = ''] = await listDeviceIds(own);
  await launchOnEach(own, [deviceId]);
  await flood.call('prepareLogs', { least: 1000, most: 1000, window: 8 }, Type.Unknown());
  return deviceId;
}

async function sendLogs(flood: BenchProcess): Promise<number> {
  const { count } = await flood.call('sendLogs', { durationMs: 1000 }, Type.Object({ count: Type.Number() }));
  return count;
}

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

async function observe(deeds: Deeds, waits: Waits): Promise<void> {
  for (let time = 0; time < timesARound; time += 1) {
    for (const [name, deed] of Object.entries(deeds)) {
      const begunAt = performance.now();
      await deed();
      waits.set(name, [...(waits.get(name) ?? []), performance.now() - begunAt]);
    }
  }
}

/** What the attacker has begun goes on without them for a while. */
async function untilNothingCompiles(api: Api): Promise<void> {
  const isAtWork = /^phalanx_turns\{work="compile",state="\w+"\} [1-9]/m;
  while (isAtWork.test(await askText(api, '/metrics'))) await sleep(500);
}

function resultOf(quiet: Waits, busy: Waits, answers: readonly string[]): RowResult {
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
    notes: [...all.map(note), ...answers.map((answer) => `the attacker's ${answer}`)],
  };
}
