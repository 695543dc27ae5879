/** Attacks by an ordinary user on secrets, acts, live views, schedules, selectors and static documents. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Type } from 'typebox';
import { WebSocket } from 'ws';

import { SimulatedHost } from '../hosts/simulated-host.ts';
import { ask, type Api } from '../http/api.ts';
import { createProject } from '../projects/push-project.ts';
import { type Attack, counted, flood, type Ground, send } from './attack.ts';
import { Devices, times } from './load-attacks.ts';

/** Longest value of a secret, and the worst case for a search that compares character by character. */
const hardValue = (at: number): string => `${'a'.repeat(4000 + at)}b${'a'.repeat(4000)}`;

/** Creates a project with twelve such secrets. */
async function createSecretProject(api: Api): Promise<string> {
  const { id } = await createProject(api);
  for (const at of times(12, (index) => index)) {
    const body = JSON.stringify({ value: hardValue(at) });
    await send(api, 'PUT', `/api/v2/automation-project/${id}/secrets/KEY_${at}`, { body });
  }
  return id;
}

const jobOf = (projectId: string, fields: object): string =>
  JSON.stringify({ automation_id: projectId, selector: 'nowhere=1', ...fields });

const Job = Type.Object({ job: Type.Object({ id: Type.String() }) });

/** Creates jobs of 4.5 MB and cancels them at once, so that nothing waits. */
async function fillWithInputs(ground: Ground, signal: AbortSignal): Promise<string> {
  const inputs = times(70, (at) => ({ at, text: 'x'.repeat(65_000) }));
  return flood(2, signal, async () => {
    const { job } = await ask(ground.api, '/api/v2/jobs', Job, {
      automation_id: ground.project.id,
      selector: 'nowhere=1',
      inputs,
    });
    return send(ground.api, 'POST', `/api/v2/jobs/${job.id}/cancel`);
  });
}

/** Connects a host of the attacker's own that replies at once but never finishes an act. */
async function actWithoutEnd(ground: Ground, signal: AbortSignal): Promise<string> {
  const own = await ground.createToken({});
  const name = `acts-${crypto.randomUUID()}`;
  const host = await SimulatedHost.connect({ ...own, name, serials: [name] });
  const ended = new AbortController();
  const code = times(3, () => 'x'.repeat(20_000));
  const head = { results: [{ state: 'unfinished' }], captures: 1, settled: true, code };
  const screen = { captured_at: 1, rotation: 0, width: 100, height: 200, picture: null };
  const tree = { packageName: 'com.shop', source: '', root: { children: [] } };
  const answer = Buffer.from(`${JSON.stringify(head)}\n${JSON.stringify({ ...screen, tree })}`);
  let questions = 0;
  host.onActWanted = (requestId) => {
    questions += 1;
    host.sendFrame({ type: 'act', request_id: requestId }, answer);
  };
  host.onClosed = () => ended.abort();
  const [device] = (await ask(own, `/api/v2/devices?search=${name}`, Devices)).devices;
  const body = JSON.stringify({ steps: [{ type: 'wait_for', on: { text: 'never' } }], timeout_ms: 55_000 });
  const until = AbortSignal.any([signal, ended.signal]);
  const path = `/api/v2/devices/${device?.device_id}/act`;
  const answers = await flood(4, until, () => send(own, 'POST', path, { body, signal }));
  host.cut();
  return `${answers}; ${questions} questions`;
}

/** Connects viewers of one phone that send `text` as fast as it is accepted. */
async function floodViewers(
  { api, deviceIds }: Ground,
  { count, path, text, signal }: { count: number; path: string; text: string; signal: AbortSignal },
): Promise<string> {
  const address = new URL(path.replace(':id', deviceIds[0] ?? ''), api.url.replace('http', 'ws'));
  const headers = { authorization: `Bearer ${api.token}` };
  const ends: string[] = [];
  const sockets = times(count, () => {
    const socket = new WebSocket(address, { headers });
    socket.on('error', () => ends.push('refused'));
    socket.on('close', (code) => ends.push(`closed ${code}`));
    socket.on('open', () => {
      const say = (): void => {
        // An endless loop would block the socket.
        for (let left = 100; left > 0 && socket.bufferedAmount < 64 * 1024; left -= 1) socket.send(text);
        if (socket.readyState === WebSocket.OPEN && !signal.aborted) setImmediate(say);
      };
      say();
    });
    return socket;
  });
  if (!signal.aborted) await once(signal, 'abort');
  const said = counted(ends);
  for (const socket of sockets) socket.terminate();
  return said === '' ? `${count} open at the end` : said;
}

/** Lists times of schedules that are years apart, which take the longest to compute. */
async function listRareSchedules({ api, project }: Ground, signal: AbortSignal): Promise<string> {
  const schedule = {
    automation_id: project.id,
    cron: '0 0 29 2 +1',
    time_zone: 'America/New_York',
    selector: 'nowhere=1',
  };
  const body = JSON.stringify(schedule);
  const made: string[] = [];
  await Promise.all(
    times(8, async () => {
      while (made.length < 999 && !signal.aborted)
        made.push(await send(api, 'POST', '/api/v2/schedules', { body, signal }).catch(() => 'no answer'));
    }),
  );
  const lists = await flood(2, signal, () => send(api, 'GET', '/api/v2/schedules?limit=1000', { signal }));
  return `made ${counted(made)}; lists ${lists}`;
}

/** Creates waiting jobs with distinct, long selectors for the attacker's entire fleet. */
async function waitBySelectors({ api, project }: Ground, signal: AbortSignal): Promise<string> {
  const serials = times(60, (at) => `none-${at}-xxxx`).join('|');
  const made: string[] = [];
  for (const at of times(400, (index) => index)) {
    if (signal.aborted) break;
    const body = jobOf(project.id, { selector: `serial=${serials}|last-${at}` });
    made.push(await send(api, 'POST', '/api/v2/jobs', { body, signal }).catch(() => 'no answer'));
  }
  if (!signal.aborted) await sleep(60_000, undefined, { signal }).catch(() => undefined);
  return `jobs: ${counted(made)}`;
}

export const surfaceAttacks: readonly Attack[] = [
  {
    name: 'secret-search',
    attack: 'jobs of 8 rows of 65 kB of one letter, in a project with 12 secrets of the same letter',
    before: 'reads up to 16.2 s, writes up to 16.6 s, by one request',
    play: async ({ api }, signal) => {
      const id = await createSecretProject(api);
      const body = jobOf(id, { inputs: times(8, () => ({ text: 'a'.repeat(65_000) })) });
      return flood(1, signal, () => send(api, 'POST', '/api/v2/jobs', { body, signal }));
    },
  },
  {
    name: 'endless-acts',
    attack: 'four acts at a host that is never through and answers at once with 60 kB of code',
    before: 'server 248 → 5,700 MB, or the process aborts; reads up to 3.6 s, writes up to 17.7 s',
    play: actWithoutEnd,
  },
  {
    name: 'live-messages',
    attack: '100 viewers of one phone who ask for pictures as fast as it is taken',
    before: 'reads p50 2.4 s, max 5.1 s; writes up to 13 s',
    play: (ground, signal) =>
      floodViewers(ground, {
        count: 100,
        path: '/api/v2/devices/:id/live',
        signal,
        text: JSON.stringify({ type: 'next' }),
      }),
  },
  {
    name: 'odd-messages',
    attack: '100 viewers who say words that are no messages',
    before: 'reads p50 1.4 s, max 8.3 s; writes up to 32.1 s',
    play: (ground, signal) =>
      floodViewers(ground, { count: 100, path: '/api/v2/devices/live', text: 'hello', signal }),
  },
  {
    name: 'rare-schedules',
    attack: 'lists of 1,000 schedules with times that lie years apart',
    before: 'reads up to 13.3 s, writes up to 19.8 s, by two requests',
    play: listRareSchedules,
  },
  {
    name: 'waiting-selectors',
    attack: '400 waiting jobs with long selectors, all different (5,000 devices)',
    before: 'reads up to 3.9 s every 5 s with 200 devices; writes up to 4.1 s',
    play: waitBySelectors,
  },
  {
    name: 'job-inputs',
    attack: 'jobs of 4.5 MB that are cancelled at once',
    before: 'the database grows by 29 MB a second, and the usage says 0',
    play: fillWithInputs,
  },
  {
    name: 'static-documents',
    attack: '60 connections without a token that ask for the API description, compressed',
    before: 'reads p50 168 ms, writes p50 2.8 s',
    play: ({ api }, signal) =>
      flood(60, signal, async () => {
        const init = { headers: { 'accept-encoding': 'br' }, signal };
        const reply = await fetch(new URL('/api/openapi.json', api.url), init);
        await reply.arrayBuffer();
        return String(reply.status);
      }),
  },
];
