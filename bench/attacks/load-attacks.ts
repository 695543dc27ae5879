/** Attacks by which one ordinary user impaired all others of the second release. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Type } from 'typebox';

import { SimulatedHost } from '../hosts/simulated-host.ts';
import { ask, directLaunch, launchPath, type Api } from '../http/api.ts';
import { jsonBody, KeepAliveClient, requestBytes } from '../http/keep-alive-client.ts';
import { createProject } from '../projects/push-project.ts';
import { type Attack, counted, flood, type Ground, send } from './attack.ts';

/** Name of an attack without a verdict: it shows the latency that the machine alone causes. */
export const busyMachine = 'busy-machine';

const put = (
  { api, signal }: { api: Api; signal: AbortSignal },
  projectId: string,
  path: string,
  content: string,
) =>
  send(api, 'PUT', `/api/v2/automation/file/${projectId}`, {
    body: JSON.stringify({ path, content }),
    signal,
  });

const launchDirect = ({ api, deviceIds }: Ground, code: string, at: number, signal: AbortSignal) => {
  const body = { ...directLaunch(deviceIds[at % deviceIds.length] ?? ''), code };
  return send(api, 'POST', launchPath, { body: JSON.stringify(body), signal });
};

/** Launches a project that has this parameter schema with `parameters`. */
async function launchBySchema(
  { api, deviceIds }: Ground,
  schema: string,
  signal: AbortSignal,
  parameters: object = {},
): Promise<string> {
  const { id } = await createProject(api);
  await put({ api, signal }, id, 'main.ts', 'console.log(1);\n');
  const saved = await put({ api, signal }, id, 'parameters.schema.json', schema);
  const start = { device_ids: deviceIds.slice(0, 1), automationId: id, command: 'start' };
  const body = JSON.stringify({ ...start, automationParameters: parameters });
  return `saved ${saved}, launched ${await send(api, 'POST', '/api/v2/devices/launchAutomation', { body, signal })}`;
}

export const times = <Item>(length: number, make: (at: number) => Item): Item[] =>
  Array.from({ length }, (_, at) => make(at));

const nested = (levels: number): string =>
  `${'{"anyOf":['.repeat(levels)}{"type":"string"}${']}'.repeat(levels)}`;
const schemaForms = [
  () => `{"type":"object","properties":{"a":${nested(20_000)}}}`,
  () => JSON.stringify({ allOf: times(50_000, () => ({})) }),
  () => JSON.stringify({ allOf: times(20_000, (at) => ({ pattern: `a${at}` })) }),
  () => JSON.stringify({ prefixItems: times(60_000, () => ({})) }),
  () => JSON.stringify({ properties: Object.fromEntries(times(30_000, (at) => [`p${at}`, {}])) }),
];

const nestedCode = [
  () => `const a = ${'1?1:'.repeat(400_000)}1;`,
  () => `const a = ${'`${'.repeat(400_000)}1${'}`'.repeat(400_000)};`,
  () => `${'{'.repeat(400_000)}${'}'.repeat(400_000)}`,
  () => `const a = ${'()=>'.repeat(400_000)}1;`,
];

/** Types with endless work for the checker: each step triples it. */
const heavyTypes = [
  'let a0 = 1;',
  ...times(300, (n) => `let a${n + 1} = () => [a${n}, a${n}, a${n}] as const;`),
  'export const q: string = a300;\n',
].join('\n');

/** Opens event streams and never reads their sockets. */
async function openUnread({ url, token }: Api, count: number, signal: AbortSignal): Promise<string> {
  const { hostname, port, host } = new URL(url);
  let closed = 0;
  const sockets = times(count, () => {
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    socket.once('close', () => (closed += 1));
    socket.write(`GET /api/v2/events HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n\r\n`);
    return socket.pause();
  });
  if (!signal.aborted) await once(signal, 'abort');
  const open = count - closed;
  for (const socket of sockets) socket.destroy();
  return `${open} of ${count} open at the end`;
}

const logLines = `for (;;) { for (let i = 0; i < 400; i++) console.log('x'.repeat(1000)); await new Promise((r) => setTimeout(r, 200)); }`;
const busyRuns = [
  logLines,
  `for (;;) await agent.actions.screenContent();`,
  `for (;;) await agent.recorder.storeScreen();`,
  `for (;;) await agent.actions.screenshot();`,
  `for (;;) console.log(Math.random());`,
  `for (;;);`,
];

/** Keeps runs active on all of the user's phones until the end. */
async function runAll(ground: Ground, codes: readonly string[], signal: AbortSignal): Promise<string> {
  const begun = await Promise.all(
    ground.deviceIds.map((_, at) => launchDirect(ground, codes[at % codes.length] ?? '', at, signal)),
  ).catch(() => ['not launched']);
  if (!signal.aborted) await once(signal, 'abort');
  await stopAll(ground);
  return `launches: ${counted(begun)}`;
}

/** Larger than any frame may be. */
const longScreen = (): Buffer => Buffer.from(`{"captured_at":1,"tree":[${'0,'.repeat(10_500_000)}0]}`);
/** Screen with the maximum number of nodes, fields and bytes of a reply. */
const wideScreen = (): Buffer => {
  const fields = times(12, (at) => `"field_${at}":0`).join(',');
  return Buffer.from(`{"captured_at":1,"tree":[${`{${fields}},`.repeat(20_000)}{}]}`);
};

/**
 * Connects a host of the attacker's own whose only phone always shows the same. Clients request its screen until
 * `signal` aborts.
 */
async function showScreen(
  ground: Ground,
  { screen, atOnce, signal }: { screen: Buffer; atOnce: number; signal: AbortSignal },
): Promise<string> {
  const own = await ground.createToken({});
  const name = `screens-${crypto.randomUUID()}`;
  const host = await SimulatedHost.connect({ ...own, name, serials: [name] });
  const ended = new AbortController();
  host.onScreenWanted = (requestId) => host.sendFrame({ type: 'screen', request_id: requestId }, screen);
  host.onClosed = () => ended.abort();
  const [device] = (await ask(own, `/api/v2/devices?search=${name}`, Devices)).devices;
  const path = `/api/v2/devices/${device?.device_id}/screen`;
  const until = AbortSignal.any([signal, ended.signal]);
  const answers = await flood(atOnce, until, () => send(own, 'GET', path, { signal }));
  host.cut();
  return `${answers}${ended.signal.aborted ? ', the host is disconnected' : ''}`;
}

/**
 * Sends requests of a few hundred bytes as fast as the service replies; each of `makers` repeats on several
 * connections.
 */
async function floodSmall(
  { url }: Api,
  perMaker: number,
  makers: readonly ((turn: number) => Buffer)[],
  signal: AbortSignal,
): Promise<string> {
  const clients = await Promise.all(
    makers.flatMap((make) =>
      times(perMaker, async () => ({ make, client: await KeepAliveClient.open(url) })),
    ),
  );
  const counts = new Map<number, number>();
  let turn = 0;
  const again = async ({ make, client }: (typeof clients)[number]): Promise<void> => {
    while (!signal.aborted) {
      const { status } = await client.request(make((turn += 1)));
      counts.set(status, (counts.get(status) ?? 0) + 1);
    }
    client.close();
  };
  await Promise.allSettled(clients.map(again));
  return [...counts].map(([status, count]) => `${status} (${count} times)`).join(', ');
}

export const Devices = Type.Object({ devices: Type.Array(Type.Object({ device_id: Type.String() })) });

const Runs = Type.Object({ runs: Type.Array(Type.Object({ run_id: Type.String() })) });

export async function stopAll({ api }: Ground): Promise<void> {
  const { runs } = await ask(api, '/api/v2/runs?status=running', Runs);
  const answers = await Promise.all(
    runs.map(({ run_id: id }) => send(api, 'POST', `/api/v2/runs/${id}/stop`)),
  );
  // Runs still active would count against the next attack.
  const refused = answers.filter((answer) => answer !== '200');
  if (refused.length > 0) throw new Error(`runs were not stopped: ${counted(refused)}`);
}

/** Returns the first active run; empty if none starts until `signal` aborts. */
async function firstRunningRun({ api }: Ground, signal: AbortSignal): Promise<string> {
  while (!signal.aborted) {
    const { runs } = await ask(api, '/api/v2/runs?status=running&limit=1', Runs);
    if (runs[0] !== undefined) return runs[0].run_id;
    await sleep(100);
  }
  return '';
}

export const loadAttacks: readonly Attack[] = [
  {
    name: 'large-schema',
    attack: 'a parameters.schema.json of 16 MB and a launch',
    before: 'the process of the service aborts',
    play: (ground, signal) => launchBySchema(ground, `{"enum":[${'0,'.repeat(8_000_000)}0]}`, signal),
  },
  {
    name: 'schema-forms',
    attack: 'schemas of 0.3 to 1 MB: deep, wide, many patterns',
    before: 'the checker runs out of memory in seven of twenty forms',
    play: (ground, signal) =>
      flood(1, signal, (turn) =>
        launchBySchema(ground, schemaForms[turn % schemaForms.length]?.() ?? '{}', signal),
      ),
  },
  {
    name: 'unread-streams',
    attack: '150 event streams that are not read while a run logs',
    before: 'server 858 → 3,348 MB, reads up to 2.9 s',
    play: async (ground, signal) => {
      const [open] = await Promise.all([
        openUnread(ground.api, 150, signal),
        runAll(ground, [logLines], signal),
      ]);
      return open;
    },
  },
  {
    name: 'device-lists',
    attack: '40 connections that ask for GET /devices in a loop (5,000 devices)',
    before: 'reads p50 0.4 s, max 8.3 s; writes p50 3.6 s',
    play: ({ api }, signal) =>
      flood(40, signal, () => send(api, 'GET', '/api/v2/devices?limit=1000', { signal })),
  },
  {
    name: 'host-lists',
    attack: '40 connections that ask for GET /hosts in a loop (5,000 devices)',
    before: 'reads p50 2.4 s, max 9.9 s; writes p50 5.2 s',
    play: ({ api }, signal) => flood(40, signal, () => send(api, 'GET', '/api/v2/hosts', { signal })),
  },
  {
    name: 'nested-code',
    attack: '400,000 nested ternaries, templates, blocks, functions',
    before: 'writes p50 17.5 s, max 67 s; launches 7 and 35 s',
    play: ({ api, project }, signal) =>
      flood(4, signal, (turn) =>
        put({ api, signal }, project.id, `nested-${turn % 4}.ts`, nestedCode[turn % 4]?.() ?? ''),
      ),
  },
  {
    name: 'heavy-types',
    attack: 'eight checks at once of code with heavy types',
    before: 'writes 429 (59 of 60), those taken 55 s',
    play: async ({ api }, signal) => {
      const projects = await Promise.all(times(8, () => createProject(api)));
      return flood(8, signal, (turn) =>
        put({ api, signal }, projects[turn % 8]?.id ?? '', 'main.ts', `${heavyTypes}// ${turn}\n`),
      );
    },
  },
  {
    name: 'slow-pattern',
    attack: 'a slow pattern in a schema, again and again',
    before: 'writes p50 21 s, launches 12 s, reads p99 2.5 s',
    play: (ground, signal) =>
      flood(4, signal, () => {
        const schema = { type: 'object', properties: { name: { type: 'string', pattern: '^(a+)+$' } } };
        return launchBySchema(ground, JSON.stringify(schema), signal, { name: `${'a'.repeat(40)}!` });
      }),
  },
  {
    name: 'large-bodies',
    attack: 'eight bodies of 15 MB at once',
    before: 'reads p99 1.6 s, writes p50 2.8 s, max 11 s',
    play: ({ api, project }, signal) =>
      flood(8, signal, (turn) =>
        put({ api, signal }, project.id, `large-${turn % 8}.txt`, `${turn} ${'x'.repeat(15_000_000)}`),
      ),
  },
  {
    name: 'deep-folders',
    attack: '950 files in folders 500 deep, by one replace',
    before: 'writes 5 to 11 s',
    play: async ({ api }, signal) => {
      const { id } = await createProject(api);
      const Listed = Type.Object({ etag: Type.String() });
      const { etag } = await ask(api, `/api/v2/automation/files/${id}`, Listed);
      const files = times(950, (at) => ({
        path: `${at % 7}/${'d/'.repeat(499)}f${at}.txt`,
        content: `${at}`,
      }));
      const body = JSON.stringify({ files, deleted: [], expected_etag: etag });
      return send(api, 'PUT', `/api/v2/automation/files/${id}`, { body, signal });
    },
  },
  {
    name: 'log-search',
    attack: 'searches in a long log, in a loop',
    before: 'reads p99 2.2 s, writes p99 6.4 s',
    play: async (ground, signal) => {
      const fill = `for (let i = 0; i < 20000; i++) { console.log(i + 'x'.repeat(3000)); if (i % 400 === 0) await new Promise((r) => setTimeout(r, 250)); } for (;;) await new Promise((r) => setTimeout(r, 1000));`;
      const running = runAll(ground, [fill], signal);
      const runId = await firstRunningRun(ground, signal);
      const answers = await flood(8, signal, () =>
        send(ground.api, 'GET', `/api/v2/runs/${runId}/logs?search=nowhere`, { signal }),
      );
      return `${answers}; ${await running}`;
    },
  },
  {
    name: 'large-screen',
    attack: 'hosts that answer a screen with 21 MB of small values, and with 3.9 MB of nodes',
    before: 'writes p50 4.3 s; server 1,062 MB',
    play: async (ground, signal) => {
      const long = await showScreen(ground, { screen: longScreen(), atOnce: 1, signal });
      return `${long}; ${await showScreen(ground, { screen: wideScreen(), atOnce: 4, signal })}`;
    },
  },
  {
    name: 'small-reads',
    attack: '40 connections that ask for GET /me in a loop',
    before: 'not reported',
    play: ({ api: { url, token } }, signal) => {
      const me = requestBytes('GET', { url: `${url}/api/v2/me`, token });
      return floodSmall({ url, token }, 40, [() => me], signal);
    },
  },
  {
    name: 'small-writes',
    attack: '20 connections that rename a project and 20 that write a small file, in a loop',
    before: 'not reported',
    play: async ({ api: { url, token }, project: { id } }, signal) => {
      const file = { url: `${url}/api/v2/automation/file/${id}`, token };
      const itself = { url: `${url}/api/v2/automation-project/${id}`, token };
      const writeFile = (turn: number): Buffer =>
        requestBytes('PUT', file, jsonBody({ path: `small-${turn % 20}.txt`, content: `${turn}` }));
      const rename = (turn: number): Buffer =>
        requestBytes('PATCH', itself, jsonBody({ name: `project ${turn}` }));
      return floodSmall({ url, token }, 20, [writeFile, rename], signal);
    },
  },
  {
    name: 'busy-runs',
    attack: 'six runs that call, log, store, take pictures and compute as fast as they can',
    before: 'reads p50 0.4 s, p99 2 to 16 s; writes p50 12 s',
    play: (ground, signal) => runAll(ground, busyRuns, signal),
  },
  {
    name: busyMachine,
    attack: 'no attack: six programs that compute beside the service and have nothing to do with it',
    before: 'the control of launches: what they wait for when the processors are taken',
    play: async (_ground, signal) => {
      const programs = times(6, () => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
      // The attacker has the lowest priority, which its children inherit; runs of a host have the normal one.
      for (const { pid } of programs) if (pid !== undefined) setPriority(pid, 0);
      await once(signal, 'abort');
      for (const program of programs) program.kill('SIGKILL');
      return 'ended';
    },
  },
];
