import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ServiceEvent } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';

import { createApiCaller } from '../../testing/api-caller.ts';
import { EventReader, type ReceivedEvent } from '../../testing/event-reader.ts';
import { deviceReport } from '../../testing/host-wire.ts';
import type { TestHost } from '../../testing/test-host.ts';
import { adminToken, TestServer } from '../../testing/test-server.ts';

const serviceEvent = Compile(ServiceEvent);
let server: TestServer;
let host: TestHost;
let deviceIds: string[];
let deviceId: string;
const readers: EventReader[] = [];

beforeAll(async () => {
  server = await TestServer.start({ sweepMs: 20, heartbeatMs: 5000 });
});
afterAll(() => server.dispose());
beforeEach(async () => {
  ({ host, deviceIds, deviceId } = await server.connectHost({
    serials: ['serial-1', 'serial-2'],
    heartbeatHabit: 'silent',
  }));
});
afterEach(async () => {
  for (const reader of readers.splice(0)) reader.close();
  await host.cut();
});

async function follow(query = '', token = adminToken, url = server.url): Promise<EventReader> {
  const reader = await EventReader.open(`${url}/api/v2/events${query}`, token);
  readers.push(reader);
  return reader;
}

const isDevice =
  (id: string, state: string) =>
  ({ event, data }: ReceivedEvent): boolean => {
    const { device } = data as { device?: { device_id: string; state: string } };
    return event === 'device' && device?.device_id === id && device.state === state;
  };

const isRun =
  (runId: string, status: string) =>
  ({ event, data }: ReceivedEvent): boolean => {
    const { run } = data as { run?: { run_id: string; status: string } };
    return event === 'run' && run?.run_id === runId && run.status === status;
  };

describe('the stream of events', () => {
  it('begins with the headers that keep proxies from holding it back', async () => {
    const { headers, statusCode } = (await follow()).response;
    expect(statusCode).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
    });
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('tells of devices, runs and logs in the form of the protocol', async () => {
    const reader = await follow();
    const stopped = reader.waitFor(
      ({ data }) => (data as { run?: { status: string } }).run?.status === 'stopped',
    );
    const { runId, launchId } = await server.startRun(host, deviceId);
    await host.log(runId, ['line 1\nline 2', '\u2028']);
    await server.stop(deviceId, launchId);
    await stopped;
    for (const { event, data } of reader.received) {
      const whole = { type: event, ...(data as object) };
      expect(serviceEvent.Check(whole), JSON.stringify(whole)).toBe(true);
    }
    const logs = reader.received.find((one) => one.event === 'log');
    const stored = await server.logs(deviceId, [launchId]);
    expect(logs?.data).toEqual({ device_id: deviceId, logs: stored });
    expect(logs?.id).toBe(stored.at(-1)?.id);
    expect(reader.received.some(isRun(runId, 'running'))).toBe(true);
    expect(reader.received.some(isDevice(deviceId, 'busy'))).toBe(true);
  });

  it('tells that a device is no longer ready: when its host says so, is cut off, or falls silent about it', async () => {
    const reader = await follow();
    const [, otherId = ''] = deviceIds;
    const booting = reader.waitFor(isDevice(deviceId, 'booting'));
    host.send({ type: 'devices', devices: [deviceReport('serial-1', { state: 'booting' })] });
    await booting;
    const unresponsive = reader.waitFor(isDevice(otherId, 'unresponsive'));
    server.clock.advance(11_000);
    await unresponsive;
    const ready = reader.waitFor(isDevice(otherId, 'ready'));
    await host.heartbeat(['serial-2']);
    await ready;
    const offline = reader.waitFor(isDevice(otherId, 'offline'));
    await host.cut();
    expect((await offline).data).toMatchObject({ device: { host: { connected: false } } });
  });

  it('holds what passes the filters and nothing else', async () => {
    const [first = '', second = ''] = deviceIds;
    const a = await server.startRun(host, first);
    const b = await server.startRun(host, second);
    const ofDevice = await follow(`?device_id=${second}`);
    const ofAutomation = await follow(`?automation_id=${a.launchId}`);
    const all = await follow();
    const last = all.waitFor(({ data }) => JSON.stringify(data).includes('last word'));
    await host.log(a.runId, ['of a']);
    await host.log(b.runId, ['of b', 'last word']);
    await last;
    await host.heartbeat();
    expect(JSON.stringify(ofDevice.received)).toContain('of b');
    expect(JSON.stringify(ofDevice.received)).not.toContain('of a');
    expect(JSON.stringify(ofAutomation.received)).toContain('of a');
    expect(JSON.stringify(ofAutomation.received)).not.toContain('of b');
  });

  it('never holds anything of another user, nor of other projects than the token’s', async () => {
    const other = await server.createCaller('curious');
    const foreign = await follow('', other.token);
    const aimed = await follow(`?device_id=${deviceId}`, other.token);
    const { secret } = await server.createToken({ project_ids: [await server.createProject()] });
    const limited = await follow('', secret);
    const own = await follow();
    const seen = own.waitFor(({ event }) => event === 'log');
    const { runId } = await server.startRun(host, deviceId);
    await host.log(runId, ['private']);
    await seen;
    await host.heartbeat();
    expect(foreign.received).toEqual([]);
    expect(aimed.received).toEqual([]);
    expect(limited.received.map((one) => one.event)).not.toContain('log');
    expect(limited.received.map((one) => one.event)).not.toContain('run');
  });

  it('ends when its token is revoked', async () => {
    const { secret, id } = await server.createToken({});
    const reader = await follow('', secret);
    await server.api('DELETE', `/api/v2/tokens/${id}`);
    await reader.ended;
    expect(reader.response.complete).toBe(true);
  });

  it('ends when its token expires', async () => {
    const expiresAt = new Date(server.clock.now() + 60_000).toISOString();
    const reader = await follow('', (await server.createToken({ expires_at: expiresAt })).secret);
    server.clock.advance(61_000);
    await reader.ended;
    expect(reader.response.complete).toBe(true);
  });

  it('is refused to a token that already has a hundred, until one of them is closed', async () => {
    const { secret } = await server.createToken({});
    // All streams are opened at one server, because each server counts its own.
    const { url } = server;
    for (let at = 0; at < 100; at += 1) await follow('', secret, url);
    const reply = await createApiCaller(url, secret)('GET', '/api/v2/events');
    expect(reply.status).toBe(429);
    expect(reply.body).toMatchObject({ success: false, code: 'too_many_streams' });
    readers.at(-1)?.close();
    let status = 429;
    while (status === 429) {
      status = (await follow('', secret, url)).response.statusCode ?? 0;
    }
    expect(status).toBe(200);
  });

  it('answers HEAD without a stream', async () => {
    const reply = await server.api('HEAD', '/api/v2/events');
    expect([reply.status, reply.text]).toEqual([200, '']);
  });

  it('cuts off a reader that does not read, and others go on', async () => {
    const { runId } = await server.startRun(host, deviceId);
    const slow = await EventReader.open(`${server.url}/api/v2/events`, adminToken, true);
    readers.push(slow);
    const cut = new Promise<void>((resolve) => {
      slow.response.socket.on('close', () => resolve());
    });
    const other = await follow();
    const megabytes = Array.from({ length: 64 }, () => 'x'.repeat(64 * 1024));
    for (let at = 0; at < 8; at += 1) await host.log(runId, megabytes);
    const last = other.waitFor(({ data }) => JSON.stringify(data).includes('still here'));
    await host.log(runId, ['still here']);
    await last;
    // Data in flight can still be read; then the stream breaks off.
    slow.response.resume();
    await Promise.all([slow.ended, cut]);
    expect(slow.response.complete).toBe(false);
  });

  it('is refused to a user who has two hundred with several tokens', async () => {
    const caller = await server.createCaller('many streams');
    const { url } = server;
    const tokens = [caller.token];
    for (let at = 0; at < 2; at += 1)
      tokens.push((await server.createToken({ user_id: caller.userId })).secret);
    const [first = '', second = '', third = ''] = tokens;
    for (let at = 0; at < 100; at += 1) await Promise.all([follow('', first, url), follow('', second, url)]);
    const reply = await createApiCaller(url, third)('GET', '/api/v2/events');
    expect([reply.status, reply.body['code']]).toEqual([429, 'too_many_streams']);
    expect((await follow('', adminToken, url)).response.statusCode).toBe(200);
  });
});
