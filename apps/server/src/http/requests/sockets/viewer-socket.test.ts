import { fastify, type FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { parseLimits } from '../../../kernel/limits/limit-settings.ts';
import { Limits } from '../../../kernel/limits/limits.ts';
import { WebSockets } from './web-sockets.ts';

const validator = Compile(Type.Object({ number: Type.Integer() }));

let app: FastifyInstance;
let limits: Limits;
let url: string;
/** The numbers that each user has said. */
let taken: Map<string, number[]>;
let closed: string[];
const open: WebSocket[] = [];

beforeEach(async () => {
  app = fastify();
  // A socket has 10 a second, and 20 at once.
  limits = new Limits(parseLimits({ PHALANX_VIEWER_MESSAGES_PER_SECOND: '50' }));
  const said = new Map<string, number[]>();
  const ended: string[] = [];
  [taken, closed] = [said, ended];
  const webSockets = new WebSockets(app, limits);
  app.get<{ Params: { user: string } }>('/:user', async ({ params: { user } }, reply) =>
    webSockets.accept(reply, { userId: user }, (socket) => {
      const numbers = said.get(user) ?? [];
      said.set(user, numbers);
      socket.onMessage(validator, ({ number }) => numbers.push(number));
      socket.onClose(() => ended.push(user));
    }),
  );
  app.server.on('upgrade', (request, socket, head) => webSockets.route(request, socket, head));
  url = (await app.listen({ port: 0, host: '127.0.0.1' })).replace('http', 'ws');
});
afterEach(async () => {
  for (const socket of open.splice(0)) socket.terminate();
  await app.close();
});

async function connect(user: string): Promise<WebSocket> {
  const socket = new WebSocket(`${url}/${user}`);
  open.push(socket);
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('open', resolve));
  return socket;
}

const say = (socket: WebSocket, count: number): void => {
  for (let number = 0; number < count; number += 1) socket.send(JSON.stringify({ number }));
};
const countOf = (user: string): number => taken.get(user)?.length ?? 0;
const refusals = (): number => limits.refusals.get('viewer_messages') ?? 0;

describe('messages of a viewer', () => {
  it('are taken in their order, as many as the rate of their socket has, and the rest waits', async () => {
    const socket = await connect('mallory');
    say(socket, 80);
    await expect.poll(refusals).toBeGreaterThan(0);
    expect(countOf('mallory')).toBeGreaterThanOrEqual(10);
    expect(countOf('mallory')).toBeLessThan(80);
    await expect.poll(() => countOf('mallory')).toBeGreaterThan(11);
    expect(taken.get('mallory')).toEqual(Array.from({ length: countOf('mallory') }, (_, number) => number));
  });

  it('share the rate of their user on all sockets, and others have theirs', async () => {
    const sockets = await Promise.all(Array.from({ length: 20 }, () => connect('mallory')));
    for (const socket of sockets) say(socket, 20);
    await expect.poll(refusals).toBeGreaterThan(0);
    // Alone, no socket meets its limit.
    expect(countOf('mallory')).toBeLessThan(400);
    say(await connect('alice'), 10);
    await expect.poll(() => countOf('alice')).toBe(10);
  });

  it('are not read any more from a peer that does not wait', async () => {
    say(await connect('mallory'), 2000);
    await expect.poll(() => closed).toEqual(['mallory']);
    expect(countOf('mallory')).toBeLessThan(200);
  });

  it('are spent when they are pings', async () => {
    const socket = await connect('mallory');
    let pongs = 0;
    socket.on('pong', () => (pongs += 1));
    for (let number = 0; number < 80; number += 1) socket.ping();
    await expect.poll(refusals).toBeGreaterThan(0);
    await expect.poll(() => pongs).toBeGreaterThanOrEqual(20);
    expect(pongs).toBeLessThan(80);
  });

  it('are not heard after one that is none, and the socket ends though its peer goes on', async () => {
    const socket = await connect('mallory');
    const code = new Promise((resolve) => socket.once('close', resolve));
    say(socket, 2);
    socket.send('{}');
    say(socket, 400);
    // A paused socket reads no close frame, so it never answers one.
    socket.pause();
    await expect.poll(() => closed, { timeout: 5000 }).toEqual(['mallory']);
    expect(taken.get('mallory')).toEqual([0, 1]);
    socket.resume();
    expect([1006, 1008]).toContain(await code);
  });

  it('end it when they come in many pieces', async () => {
    const socket = await connect('mallory');
    for (let piece = 0; piece < 20; piece += 1) socket.send('', { fin: false });
    await expect.poll(() => closed).toEqual(['mallory']);
  });
});
