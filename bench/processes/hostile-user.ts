import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Type } from 'typebox';

import { answerParent, command } from '../harness/answer-parent.ts';
import { directLaunch, launchPath, type Api } from '../http/api.ts';
import { createProject } from '../projects/push-project.ts';

const bombProjects = 5;
const slowBodies = 32;
const uploads = 4;
const uploadBytes = 75 * 1024 * 1024;
const launches = 40;
const dripMs = 500;

/** Every pair of 10,000 texts is compared. */
const typeBomb = `type D = '0'|'1'|'2'|'3'|'4'|'5'|'6'|'7'|'8'|'9';
type Text = \`\${D}\${D}\${D}\${D}\`;
declare const from: { [Key in Text]: { [Inner in Text]: Key } };
export const to: { [Key in Text]: { [Inner in Text]: Inner } } = from;
`;
const regexBomb = JSON.stringify({
  type: 'object',
  properties: { name: { type: 'string', pattern: '^(a+)+$' } },
});

const state = { isAttacking: false };
const sockets = new Set<Socket>();
let working: Promise<unknown> = Promise.resolve();
const statuses = new Map<number, number>();

async function send(api: Api, method: string, path: string, body: string): Promise<void> {
  const reply = await fetch(new URL(path, api.url), {
    method,
    headers: { authorization: `Bearer ${api.token}`, 'content-type': 'application/json' },
    body,
  }).catch(() => undefined);
  await reply?.arrayBuffer().catch(() => undefined);
  const status = reply?.status ?? 0;
  statuses.set(status, (statuses.get(status) ?? 0) + 1);
  // Whoever attacks does not wait as long as he is told, but a refusal is no work for this machine's other core either.
  if (status >= 400) await sleep(100);
}

const writing = (path: string, content: string): string => JSON.stringify({ path, content });

async function again(attack: () => Promise<unknown>): Promise<void> {
  while (state.isAttacking) await attack();
}

/** A request whose body comes by the byte. */
function drip({ url, token }: Api): void {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  sockets.add(socket);
  socket.on('error', () => undefined);
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

answerParent({
  /** All attacks at once, each again and again, until `end`. */
  begin: command(
    Type.Object({ url: Type.String(), token: Type.String(), deviceId: Type.String() }),
    async ({ deviceId, ...api }) => {
      state.isAttacking = true;
      const bombs = await Promise.all(Array.from({ length: bombProjects }, () => createProject(api)));
      const { id: regexProject } = await createProject(api);
      await send(
        api,
        'PUT',
        `/api/v2/automation/file/${regexProject}`,
        writing('main.ts', 'console.log(1);\n'),
      );
      await send(
        api,
        'PUT',
        `/api/v2/automation/file/${regexProject}`,
        writing('parameters.schema.json', regexBomb),
      );
      const large = 'x'.repeat(uploadBytes);
      const regexLaunch = (): string =>
        JSON.stringify({
          ...{ device_ids: [deviceId], automationId: regexProject, command: 'start' },
          automationParameters: { name: `${'a'.repeat(40)}!` },
        });
      for (let socket = 0; socket < slowBodies; socket += 1) drip(api);
      const repeated = [
        ...bombs.map(
          ({ id }, at) =>
            () =>
              send(
                api,
                'PUT',
                `/api/v2/automation/file/${id}`,
                writing('main.ts', `${typeBomb}// ${at} ${Date.now()}\n`),
              ),
        ),
        () => send(api, 'POST', '/api/v2/devices/launchAutomation', regexLaunch()),
        ...Array.from(
          { length: uploads },
          (_, at) => () =>
            send(api, 'PUT', `/api/v2/automation/file/${bombs[at]?.id}`, writing(`large-${at}.txt`, large)),
        ),
        ...Array.from(
          { length: launches },
          () => () => send(api, 'POST', launchPath, JSON.stringify(directLaunch(deviceId))),
        ),
      ];
      working = Promise.all(repeated.map(again));
    },
  ),
  /** Resolves when nothing of it is under way, with how often each status was the answer. */
  end: async () => {
    state.isAttacking = false;
    for (const socket of sockets) socket.destroy();
    await working;
    return [...statuses].map(([status, times]) => `${status}: ${times}`).join(', ');
  },
});
