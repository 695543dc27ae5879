import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Type } from 'typebox';

import { answerParent, command } from '../harness/answer-parent.ts';
import { directLaunch, launchPath, type Api } from '../http/api.ts';
import { createProject } from '../projects/push-project.ts';

const bombProjects = 5;
const slowBodies = 32;
const uploads = 4;
const regexLaunches = 4;
/** Nearly the largest that is taken. */
const uploadMb = 48;
const launches = 40;
const dripMs = 500;

/** Each step triples the work of the checker, which never ends. */
const typeBomb = [
  'let a0 = 1;',
  ...Array.from({ length: 300 }, (_, n) => `let a${n + 1} = () => [a${n}, a${n}, a${n}] as const;`),
  'export let q: string = a300;\n',
].join('\n');
const regexBomb = JSON.stringify({
  type: 'object',
  properties: { name: { type: 'string', pattern: '^(a+)+$' } },
});
/** Nothing that packs. */
const large = randomBytes(2 ** 18 * 3)
  .toString('base64')
  .repeat(uploadMb);

const state = { isAttacking: false, orders: [] as (() => Order)[], stop: new AbortController() };
const sockets = new Set<Socket>();
let working: Promise<unknown> = Promise.resolve();
/** How often which answer came, by attack. */
const answers = new Map<string, Map<string, number>>();

function count(attack: string, answer: string): void {
  const ofAttack = answers.get(attack) ?? new Map<string, number>();
  answers.set(attack, ofAttack.set(answer, (ofAttack.get(answer) ?? 0) + 1));
}

interface Order {
  attack: string;
  method: 'POST' | 'PUT';
  path: string;
  body: string;
}

async function send({ url, token }: Api, { attack, method, path, body }: Order): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const { signal } = state.stop;
  const reply = await fetch(new URL(path, url), { method, headers, body, signal }).catch(() => undefined);
  if (signal.aborted) return count(attack, 'given up by the attacker');
  const text = (await reply?.text().catch(() => '')) ?? '';
  const status = reply?.status ?? 0;
  count(attack, `${status} ${/"code":"(\w+)"/.exec(text)?.[1] ?? ''}`.trim());
  // Whoever attacks does not wait as long as he is told, but a refusal is no work for this machine's other core either.
  if (status >= 400) await sleep(100);
}

const write = (attack: string, projectId: string | undefined, path: string, content: string): Order => ({
  ...{ attack, method: 'PUT', path: `/api/v2/automation/file/${projectId}` },
  body: JSON.stringify({ path, content }),
});

async function again(attack: () => Promise<unknown>): Promise<void> {
  while (state.isAttacking) await attack();
}

/** A request whose body comes by the byte. */
function drip({ url, token }: Api): void {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  sockets.add(socket);
  socket.on('error', () => undefined);
  socket.once('data', (answer) => count('slow body', answer.toString('latin1').slice(9, 12)));
  const head = [
    'POST /api/v2/devices/automationLogs HTTP/1.1',
    `Host: ${host}`,
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    'Content-Length: 100000',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  const timer = setInterval(() => socket.write(' '), dripMs);
  socket.on('close', () => {
    clearInterval(timer);
    sockets.delete(socket);
    if (state.isAttacking) drip({ url, token });
  });
}

/** What is sent again and again. */
async function ordersOf(api: Api, deviceId: string): Promise<(() => Order)[]> {
  const bombs = await Promise.all(Array.from({ length: bombProjects }, () => createProject(api)));
  const { id: regexProject } = await createProject(api);
  await send(api, write('preparing', regexProject, 'main.ts', 'console.log(1);\n'));
  await send(api, write('preparing', regexProject, 'parameters.schema.json', regexBomb));
  const start = {
    ...{ device_ids: [deviceId], automationId: regexProject, command: 'start' },
    automationParameters: { name: `${'a'.repeat(40)}!` },
  };
  const post = { method: 'POST' } as const;
  const path = '/api/v2/devices/launchAutomation';
  return [
    ...bombs.map(
      ({ id }, at) =>
        () =>
          write('type bomb', id, 'main.ts', `${typeBomb}// ${at} ${Date.now()}\n`),
    ),
    ...Array.from({ length: regexLaunches }, () => () => ({
      ...{ attack: 'regex bomb', ...post, path },
      body: JSON.stringify(start),
    })),
    ...Array.from(
      { length: uploads },
      (_, at) => () => write('large upload', bombs[at]?.id, `large-${at}.txt`, `${Date.now()} ${large}`),
    ),
    ...Array.from({ length: launches }, () => () => ({
      ...{ attack: 'launch', ...post, path: launchPath },
      body: JSON.stringify(directLaunch(deviceId)),
    })),
  ];
}

const Target = Type.Object({ url: Type.String(), token: Type.String(), deviceId: Type.String() });
let target: Api = { url: '', token: '' };

answerParent({
  prepare: command(Target, async ({ deviceId, ...api }) => {
    target = api;
    state.orders = await ordersOf(api, deviceId);
  }),
  /** All attacks at once, each again and again, until `end`. */
  begin: () => {
    state.isAttacking = true;
    state.stop = new AbortController();
    for (let socket = 0; socket < slowBodies; socket += 1) drip(target);
    working = Promise.all(state.orders.map((order) => again(() => send(target, order()))));
  },
  end: async () => {
    state.isAttacking = false;
    state.stop.abort();
    for (const socket of sockets) {
      count('slow body', 'held open until the end');
      socket.destroy();
    }
    await working;
  },
  /** How often each answer came. */
  answers: () =>
    [...answers].map(([attack, times]) => {
      const told = [...times].map(([answer, number]) => `${answer} (${number} times)`);
      return `${attack}: ${told.join(', ')}`;
    }),
});
