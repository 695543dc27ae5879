import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { hostConnectPath } from '@phalanx/protocol';
import { Type } from 'typebox';
import { WebSocket } from 'ws';

import { SimulatedHost } from '../hosts/simulated-host.ts';
import { ask, directLaunch, launchPath, type Api } from '../http/api.ts';
import { type Attack, counted, type Ground, send } from './attack.ts';

const launch = (ground: Ground, code?: string): Promise<string> => {
  const body = { ...directLaunch(ground.deviceIds[0] ?? ''), ...(code !== undefined && { code }) };
  return send(ground.api, 'POST', launchPath, { body: JSON.stringify(body) });
};

/** Returns why the service closes the connection of a host that sends this text. */
async function sayAsHost({ url, token }: Api, text: string): Promise<string> {
  const address = new URL(hostConnectPath, url.replace('http', 'ws'));
  const socket = new WebSocket(address, { headers: { authorization: `Bearer ${token}` } });
  const ended = new Promise<string>((resolve) => {
    socket.once('close', (code, reason) => resolve(`closed: ${code} ${reason.toString()}`));
    socket.once('unexpected-response', (_, { statusCode }) => resolve(`refused: ${statusCode}`));
  });
  socket.on('error', () => undefined);
  socket.once('open', () => socket.send(text));
  return ended;
}

/** Opens silent connections. Returns how many of them are closed after a time. */
async function openSilent({ url }: Api, count: number, afterMs: number): Promise<string> {
  const { hostname, port } = new URL(url);
  let closed = 0;
  const sockets = Array.from({ length: count }, () => {
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    return socket.on('data', () => undefined).once('close', () => (closed += 1));
  });
  await sleep(afterMs);
  for (const socket of sockets) socket.destroy();
  return `${closed} of ${count} closed after ${afterMs / 1000} s`;
}

/** Starts uploads that stall after their first bytes. */
async function stallUploads({ api }: Ground, count: number): Promise<string> {
  const { hostname, port } = new URL(api.url);
  const sizeBytes = 20 * 1024 * 1024;
  const path = `/api/v2/automation/file/${crypto.randomUUID()}`;
  const answers = Array.from({ length: count }, async () => {
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    const head = `PUT ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${api.token}\r\nContent-Type: application/json\r\nContent-Length: ${sizeBytes}\r\n\r\n`;
    socket.write(head);
    socket.write(`{"content":"${'x'.repeat(2 * 1024 * 1024)}`);
    const answer = await new Promise<string>((resolve) => {
      socket.once('data', (data) => resolve(data.toString('latin1').slice(9, 12)));
      setTimeout(resolve, 5000, 'held');
    });
    socket.destroy();
    return answer;
  });
  return counted(await Promise.all(answers));
}

const projects = '/api/v2/automation-project';

export const requestAttacks: readonly Attack[] = [
  {
    name: 'nested-launch',
    attack: 'direct code of 400,000 parentheses',
    before: 'every later launch of everyone fails until a restart',
    play: async (ground) => {
      const nested = await launch(ground, `let a = ${'('.repeat(400_000)}1${')'.repeat(400_000)};`);
      return `${nested}; the next launch: ${await launch(ground)}`;
    },
  },
  {
    name: 'deep-json',
    attack: 'a body of 16 MB of [[[',
    before: '6.8 s, and a 500',
    play: ({ api }) => send(api, 'POST', projects, { body: '['.repeat(16 * 1024 * 1024) }),
  },
  {
    name: 'wide-json',
    attack: 'an object of a million keys',
    before: '5.7 s',
    play: ({ api }) => {
      const keys = Array.from({ length: 1_000_000 }, (_, index) => `"${index}":0`);
      return send(api, 'POST', projects, { body: `{${keys.join(',')}}` });
    },
  },
  {
    name: 'wide-table',
    attack: 'a job whose table has 60,000 columns',
    before: '8.6 s of the event loop',
    play: ({ api, project }) => {
      const names = Array.from({ length: 60_000 }, (_, index) => `c${index}`);
      const table = {
        automation_id: project.id,
        selector: 'state=ready',
        inputs_text: `${names.join(',')}\n1`,
      };
      return send(api, 'POST', '/api/v2/jobs', { body: JSON.stringify(table) });
    },
  },
  {
    name: 'long-host-message',
    attack: "a host's message of 30 MB",
    before: '7.3 s, 1.7 GB of memory',
    play: ({ api }) => sayAsHost(api, '['.repeat(30 * 1024 * 1024)),
  },
  {
    name: 'limited-host',
    attack: 'a token for one project comes as a host',
    before: "takes over its user's host and gets the next launch's code",
    play: async ({ api, createToken, project }) => {
      const limited = await createToken({ project_ids: [project.id], scopes: ['read', 'launch', 'admin'] });
      const asked = JSON.stringify({ name: 'x', scopes: ['host'], project_ids: [project.id] });
      return `${await sayAsHost(limited, '{}')}; such a token made: ${await send(api, 'POST', '/api/v2/tokens', { body: asked })}`;
    },
  },
  {
    name: 'stalled-uploads',
    attack: '12 uploads to a project that is not there, which stop in the middle',
    before: '241 MB held (the other attacks of 7: `hostile`)',
    play: (ground) => stallUploads(ground, 12),
  },
  {
    name: 'short-token',
    attack: 'a token of a minute makes one that stays',
    before: 'valid until 9999',
    play: async ({ createToken }) => {
      const expiresAt = Date.now() + 60_000;
      const short = await createToken({ expires_at: expiresAt, scopes: ['read', 'admin'] });
      const reply = await fetch(new URL('/api/v2/tokens', short.url), {
        method: 'POST',
        headers: { authorization: `Bearer ${short.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'long', expires_at: '9999-01-01T00:00:00Z' }),
      });
      const until = Number(/"expires_at":(\d+)/.exec(await reply.text())?.[1]);
      return `${reply.status}${until <= expiresAt ? ', it ends with the first' : ''}`;
    },
  },
  {
    name: 'host-flood',
    attack: 'a host with 6,000 phones, and one that says 30,000 at once',
    before: 'all of them registered (a flood of logs: `hostile`)',
    play: async ({ createToken }) => {
      const own = await createToken({});
      const serials = Array.from({ length: 6000 }, (_, index) => `flood-${index}`);
      await SimulatedHost.connect({ ...own, name: 'flood', serials });
      const Limits = Type.Object({ limit: Type.String(), used: Type.Union([Type.Number(), Type.Null()]) });
      const Usage = Type.Object({ usage: Type.Object({ limits: Type.Array(Limits) }) });
      const { usage } = await ask(own, '/api/v2/me/usage', Usage);
      const known = usage.limits.find(({ limit }) => limit === 'devices')?.used;
      return `${known} known; ${await sayAsHost(own, '['.repeat(6_000_000))}`;
    },
  },
  {
    name: 'many-launches',
    attack: '40 launches on one phone',
    before: '40 runs at once, 2.7 GB of memory',
    play: async (ground) => counted(await Promise.all(Array.from({ length: 40 }, () => launch(ground)))),
  },
  {
    name: 'silent-connections',
    attack: '700 connections that say nothing',
    before: 'open after 75 s, others starve at 600',
    play: ({ api }) => openSilent(api, 700, 30_000),
  },
  {
    name: 'framed-docs',
    attack: '/docs in a frame, with scripts of others',
    before: 'nothing against it',
    play: async ({ api }) => {
      const { headers } = await fetch(new URL('/docs', api.url));
      return (headers.get('content-security-policy') ?? 'no policy').slice(0, 60);
    },
  },
];
