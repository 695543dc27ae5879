import { once } from 'node:events';
import { createServer, connect as dial, type Socket } from 'node:net';
import { pino } from 'pino';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { isNatsHere } from '../../testing/engines/nats-engine.ts';
import { getNatsUrl } from '../../testing/engines/shared-engine.ts';
import { subscribeTo } from './bus.ts';
import { NatsBus } from './nats-bus.ts';

const log = pino({ level: 'silent' });
const prefix = `test.${process.pid}`;

describe.skipIf(!isNatsHere)('the bus of NATS', () => {
  let natsUrl: string;
  beforeAll(async () => {
    natsUrl = await getNatsUrl();
  });
  const opened: { close(): Promise<void> | void }[] = [];
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
  });

  async function openBus(url = natsUrl): Promise<NatsBus> {
    const bus = new NatsBus({ urls: [new URL(url)], name: 'test', prefix, log });
    opened.push(bus);
    await expect.poll(() => bus.isConnected).toBe(true);
    return bus;
  }

  /** Waits until NATS knows all subscriptions of `bus`: it takes up one after the other, and the last is heard. */
  async function untilHeard(bus: NatsBus, by: NatsBus): Promise<void> {
    bus.answer('heard', async () => Buffer.from('yes'));
    const asked = (): Promise<string> => by.ask('heard', '').then(String, () => 'no');
    await expect.poll(asked).toBe('yes');
  }

  /** Opens a proxy before NATS whose connections can be cut. */
  async function openCable(): Promise<{ url: string; cut(): void }> {
    const to = new URL(natsUrl);
    const { port, hostname } = to;
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      const peer = dial(Number(port), hostname);
      for (const one of [socket, peer]) sockets.add(one.on('error', () => undefined));
      socket.pipe(peer).pipe(socket);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    opened.push({ close: () => void server.close() });
    const address = server.address();
    to.port = `${typeof address === 'object' ? address?.port : ''}`;
    return {
      url: to.href,
      cut: () => {
        for (const socket of sockets) socket.destroy();
        sockets.clear();
      },
    };
  }

  it('reaches the others, not oneself, in order', async () => {
    const [one, other] = [await openBus(), await openBus()];
    const heard: string[] = [];
    one.subscribe('order', (text) => heard.push(`one ${text}`));
    other.subscribe('order', (text) => heard.push(`other ${text}`));
    await untilHeard(one, other);
    await untilHeard(other, one);
    one.publish('order', '1');
    one.publish('order', '2');
    other.publish('order', '3');
    await expect.poll(() => heard.length).toBe(3);
    expect(heard.filter((text) => text.startsWith('other'))).toEqual(['other 1', 'other 2']);
    expect(heard).toContain('one 3');
  });

  it('carries what is longer than a message of NATS may be', async () => {
    const [one, other] = [await openBus(), await openBus()];
    const picture = Buffer.alloc(3 * 1024 * 1024 + 17, 'picture');
    other.answer('long', async (question) => Buffer.concat([Buffer.from(question), picture]));
    await untilHeard(other, one);
    const question = 'q'.repeat(1024 * 1024 + 5);
    const answer = await one.ask('long', question);
    expect(answer.equals(Buffer.concat([Buffer.from(question), picture]))).toBe(true);
  });

  it('says at once that nobody answers, and why somebody does not', async () => {
    const [one, other] = [await openBus(), await openBus()];
    await expect(one.ask('nobody', '')).rejects.toThrow('its host is not connected');
    other.answer('refused', () => Promise.reject(new Error('the screen is off')));
    await untilHeard(other, one);
    await expect(one.ask('refused', '')).rejects.toThrow('the screen is off');
  });

  it('comes back after a cut, hears again, and says that it may have missed something', async () => {
    const cable = await openCable();
    const [one, other] = [await openBus(cable.url), await openBus()];
    const heard: string[] = [];
    let gaps = 0;
    one.subscribe('cut', (text) => heard.push(text));
    one.onGap(() => (gaps += 1));
    await untilHeard(one, other);
    cable.cut();
    await expect.poll(() => gaps).toBe(1);
    await untilHeard(one, other);
    other.publish('cut', 'after');
    await expect.poll(() => heard).toEqual(['after']);
  });

  it('hears on when a message is nothing of ours', async () => {
    const [one, other] = [await openBus(), await openBus()];
    const heard: number[] = [];
    const numbers = Compile(Type.Number());
    subscribeTo(one, 'numbers', numbers, (number) => heard.push(number));
    await untilHeard(one, other);
    for (const text of ['{', '"one"', '', '1']) other.publish('numbers', text);
    await expect.poll(() => heard).toEqual([1]);
    expect(one.isConnected).toBe(true);
  });

  it('is not let in without the password, and says so', async () => {
    const stranger = new URL(natsUrl);
    stranger.password = 'guessed';
    const lines: string[] = [];
    const bus = new NatsBus({
      urls: [stranger],
      name: 'test',
      prefix,
      log: pino({}, { write: (line) => lines.push(line) }),
    });
    opened.push(bus);
    await expect.poll(() => lines.join('')).toContain('PHALANX_NATS_URL');
    expect(bus.isConnected).toBe(false);
    expect(lines.join('')).not.toContain('guessed');
  });

  it('does not wait for NATS to begin', async () => {
    const bus = new NatsBus({ urls: [new URL('nats://127.0.0.1:9')], name: 'test', prefix, log });
    opened.push(bus);
    bus.publish('early', 'nobody hears it');
    await expect(bus.ask('early', '')).rejects.toThrow('do not reach each other');
  });
});
