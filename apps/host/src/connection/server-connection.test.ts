import { randomUUID } from 'node:crypto';
import { closeCodes, hostProtocolVersion } from '@phalanx/protocol';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../testing/test-service.ts';
import type { Hello } from './pages.ts';
import { ServerConnection } from './server-connection.ts';
import type { ServerCommand } from './session.ts';
import { createServiceClock } from './service-clock.ts';

let service: TestService;
const closing: (() => Promise<void>)[] = [];

beforeEach(async () => {
  service = await startTestService();
  service.heartbeatMs = 100;
});

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  await service.close();
  expect(service.violations).toEqual([]);
});

function connect({ token = service.token, path = '', stableMs = 60_000 } = {}) {
  const lines: { level: number; msg: string; reason?: string; waitMs?: number }[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const commands: ServerCommand[] = [];
  const clock = createServiceClock();
  const serverUrl = new URL(service.url + path);
  const connection = new ServerConnection({ serverUrl, token, clock, log, refusedRetryMs: 20, stableMs });
  const hello = (): Hello => ({
    type: 'hello',
    protocol_version: hostProtocolVersion,
    host_id: '018f0000-0000-7000-8000-000000000001',
    host_name: 'test',
    devices: [],
    runs: [],
  });
  connection.start({ hello, listReady: () => ['phone-1'], onCommand: (command) => commands.push(command) });
  closing.push(() => connection.close());
  return { connection, lines, commands, clock };
}

const beats = (connection: number) =>
  service.arrivals.filter((arrival) => arrival.kind === 'heartbeat' && arrival.connection === connection)
    .length;

describe('the connection to the server', () => {
  it('says hello, is welcomed, and heartbeats at once and then at the rate the server asks for', async () => {
    const { connection } = connect();
    await service.until(() => beats(1) >= 3);
    expect(connection.online).toBe(true);
    expect(service.arrivals[0]).toMatchObject({ kind: 'hello', connection: 1 });
    expect(service.arrivals[1]).toEqual({ kind: 'heartbeat', connection: 1, ready: ['phone-1'] });
    expect(service.headers[0]).toMatchObject({ authorization: `Bearer ${service.token}` });
    expect(service.headers[0]?.['sec-websocket-extensions']).toBeUndefined();
  });

  it('sends nothing but hello before it is welcomed', async () => {
    service.sendsWelcome = false;
    const { connection } = connect();
    await service.until(() => service.arrivals.length > 0);
    expect(connection.online).toBe(false);
    expect(connection.send({ type: 'devices', devices: [] })).toBe(false);
  });

  it('comes back every time when it is cut', async () => {
    const { connection } = connect();
    for (let cut = 1; cut <= 5; cut += 1) {
      await service.until(() => beats(cut) >= 2);
      service.cut();
    }
    await service.until(() => beats(6) >= 1);
    expect(connection.online).toBe(true);
  });

  it('waits longer each time when it is taken and dropped at once, and tells the reason once', async () => {
    const { lines } = connect();
    for (let drop = 1; drop <= 5; drop += 1) {
      await service.until(() => beats(drop) >= 2);
      service.closeWith(1013);
    }
    await service.until(() => beats(6) >= 1);
    const waits = lines.flatMap(({ waitMs }) => waitMs ?? []);
    // Each wait is twice the previous one, less up to a quarter of jitter.
    for (const [index, waitMs] of waits.entries())
      expect(waitMs).toBeGreaterThanOrEqual(Math.floor(75 * 2 ** index));
    expect(lines.filter(({ level }) => level >= 40)).toHaveLength(1);
  });

  it('waits no longer than at first when the last connection stood for a while', async () => {
    const { lines } = connect({ stableMs: 1 });
    for (let drop = 1; drop <= 4; drop += 1) {
      await service.until(() => beats(drop) >= 2);
      service.closeWith(1013);
    }
    await service.until(() => beats(5) >= 1);
    // A second wait is 150 ms or more: twice the first one, less a quarter of jitter.
    for (const waitMs of lines.flatMap((line) => line.waitMs ?? [])) expect(waitMs).toBeLessThan(150);
  });

  it('comes back after the server was away', async () => {
    const { connection } = connect();
    await service.until(() => beats(1) >= 1);
    await service.goAway();
    await service.listen();
    await service.until(() => beats(2) >= 1);
    expect(connection.online).toBe(true);
  });

  it('cuts a server that answers no heartbeats, and tries again', async () => {
    service.answersHeartbeats = false;
    const { lines } = connect();
    await service.until(() => service.connections === 2);
    expect(beats(1)).toBeLessThanOrEqual(3);
    expect(lines.some(({ reason }) => reason?.includes('did not answer 2 heartbeats'))).toBe(true);
  });

  it.each([401, 403])(
    'says clearly when the server refuses its token with %i, and tries again later',
    async (status) => {
      service.refuseStatus = status;
      const { connection, lines } = connect();
      await service.until(() => service.headers.length >= 2);
      const line = lines.find(({ level }) => level === 50);
      expect(line?.msg).toMatch(
        status === 401 ? /give a valid one in PHALANX_TOKEN/ : /it needs the scope "host"/,
      );
      expect(line?.reason).toBe(`HTTP ${status}: The token was revoked.`);
      expect(JSON.stringify(lines)).not.toContain(service.token);
      service.refuseStatus = undefined;
      await service.until(() => beats(1) >= 1);
      expect(connection.online).toBe(true);
    },
  );

  it.each([
    ['replaced', /Another program has connected as this host/],
    ['unauthorized', /does not accept the token/],
    ['protocolError', /bring both to the same version/],
  ] as const)('says what to do when the server closes with %s', async (word, advice) => {
    const { lines } = connect();
    await service.until(() => beats(1) >= 1);
    service.closeWith(closeCodes[word]);
    await service.until(() => service.connections === 2);
    expect(lines.find(({ level }) => level === 50)?.msg).toMatch(advice);
  });

  it.each([
    ['no JSON', '{'],
    ['an unknown type', '{"type":"dance"}'],
    ['a launch without code', JSON.stringify({ type: 'launch', automation_id: 'a', runs: [] })],
    ['a second welcome', JSON.stringify({ type: 'welcome', server_time: 1, heartbeat_ms: 100 })],
  ])('drops the connection at %s, does nothing of it, and connects again', async (_, text) => {
    const { commands, lines } = connect();
    await service.until(() => beats(1) >= 1);
    service.sendText(text);
    service.send({ type: 'stop', run_ids: [randomUUID()] });
    await service.until(() => beats(2) >= 1);
    expect(commands).toEqual([]);
    expect(lines.find(({ level }) => level === 50)?.reason).toContain("can't follow");
  });

  it('hands over the commands in order', async () => {
    const { commands } = connect();
    await service.until(() => beats(1) >= 1);
    const run_ids = [randomUUID()];
    service.send({ type: 'stop', run_ids });
    service.send({ type: 'runs_stored', run_ids });
    const before = beats(1);
    await service.until(() => beats(1) >= before + 2);
    expect(commands.map(({ type }) => type)).toEqual(['stop', 'runs_stored']);
  });

  it.each([3_600_000, -3_600_000])('measures a service clock that is %i ms off', async (offsetMs) => {
    service.clockOffsetMs = offsetMs;
    const { clock } = connect();
    await service.until(() => beats(1) >= 3);
    expect(Math.abs(clock.offsetMs - offsetMs)).toBeLessThan(1000);
    expect(Math.abs(clock.now() - service.now())).toBeLessThan(1000);
  });

  it('ends when it is closed, and tries no more', async () => {
    const { connection } = connect();
    await service.until(() => beats(1) >= 1);
    await connection.close();
    expect(connection.online).toBe(false);
    expect(connection.send({ type: 'devices', devices: [] })).toBe(false);
  });

  it('ends when it is closed while the server is away', async () => {
    await service.goAway();
    const { connection } = connect();
    await connection.close();
    expect(connection.online).toBe(false);
    await service.listen();
  });
});
