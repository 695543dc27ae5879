import { closeCodes } from '@phalanx/protocol';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { TestHost } from '../../testing/test-host.ts';
import { startBody, TestServer } from '../../testing/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ settings: { PHALANX_MAX_HOSTS: '2' } });
});
afterAll(() => server.dispose());

const hostToken = (user_id: string): Promise<{ secret: string; id: string }> =>
  server.createToken({ user_id, scopes: ['host'] });

it('a host ID belongs to the token that first connected with it, until that is revoked', async () => {
  const { api, userId } = await server.createCaller('ada');
  const [first, second] = [await hostToken(userId), await hostToken(userId)];
  const { host, deviceId } = await server.connectHost({ token: first.secret }, api);
  const impostor = new TestHost({ url: server.url, token: second.secret, hostId: host.hostId });
  await impostor.connect();
  expect(await impostor.ended()).toBe(closeCodes.refused);
  expect(host.isOpen).toBe(true);
  const body = startBody(deviceId);
  expect((await api('POST', '/api/v2/devices/launchDirectAutomation', body)).status).toBe(200);
  expect([host.messages('launch').length, impostor.messages('launch').length]).toEqual([1, 0]);

  // The same holds while the first host is disconnected, and after a restart.
  await host.cut();
  await server.restart();
  const again = new TestHost({ url: server.url, token: second.secret, hostId: host.hostId });
  await again.connect();
  expect(await again.ended()).toBe(closeCodes.refused);
  await server.api('DELETE', `/api/v2/tokens/${first.id}`);
  await again.connect();
  expect(again.isOpen).toBe(true);
  await again.cut();
});

it('since when a host is away, and so its phone, is known after a restart', async () => {
  const { token, api } = await server.createCaller('traveller');
  const { host, deviceId } = await server.connectHost({ token, serials: ['away'] }, api);
  await host.cut();
  const seen = async (): Promise<unknown[]> => [
    (await api('GET', `/api/v2/devices/${deviceId}`)).body['device'],
    (await api('GET', '/api/v2/hosts')).body['hosts'],
  ];
  await expect.poll(seen).toMatchObject([{ state: 'offline' }, [{ connected: false }]]);
  const endedAt = server.clock.now();
  server.clock.advance(60_000);
  await server.restart();
  const [device, hosts] = (await seen()) as [{ since: number }, { since: number }[]];
  expect(Math.abs(device.since - endedAt)).toBeLessThan(30_000);
  expect(hosts.map(({ since }) => since)).toEqual([device.since]);
});

it('why a host finds no phones is told while it is connected, and until it finds some', async () => {
  const { token, api } = await server.createCaller('searcher');
  const host = new TestHost({ url: server.url, token, serials: [], heartbeatHabit: 'silent' });
  await host.connect();
  const problem = 'No adb server answers at 127.0.0.1:5037. Start it with "adb start-server".';
  const seen = async (said: object): Promise<unknown> => {
    host.send({ type: 'heartbeat', sent_at: 1, ready: [], ...said });
    return ((await api('GET', '/api/v2/hosts')).body['hosts'] as { problem: unknown }[])[0]?.problem;
  };
  await expect.poll(() => seen({ problem })).toBe(problem);
  await expect.poll(() => seen({})).toBeNull();
  await expect.poll(() => seen({ problem })).toBe(problem);
  await host.cut();
  await expect
    .poll(async () => (await api('GET', '/api/v2/hosts')).body['hosts'])
    .toMatchObject([{ connected: false, problem: null }]);
});

it('a user has so many hosts and no more; one that is gone and had no phones makes room', async () => {
  const { token } = await server.createCaller('bob');
  const open = async (serials: string[]): Promise<TestHost> => {
    const host = new TestHost({ url: server.url, token, serials });
    await host.connect();
    return host;
  };
  const withPhone = await open(['phone']);
  const empty = await open([]);
  const tooMany = await open([]);
  expect(await tooMany.ended()).toBe(closeCodes.refused);
  await empty.cut();
  await expect
    .poll(async () => {
      const next = await open([]);
      await next.heartbeat();
      return next.isOpen;
    })
    .toBe(true);
  expect(withPhone.isOpen).toBe(true);
  await withPhone.cut();
});

it('a host that says too much is read more slowly, and others are not', async () => {
  const strict = await TestServer.start({
    settings: { PHALANX_HOST_MESSAGES_PER_SECOND: '2' },
  });
  const [loud, calm] = [await strict.createCaller('loud'), await strict.createCaller('calm')];
  const flood = await strict.connectHost({ token: loud.token }, loud.api);
  for (let count = 0; count < 500; count += 1) flood.host.send({ type: 'devices', devices: [] });
  const { host } = await strict.connectHost({ token: calm.token }, calm.api);
  await host.heartbeat();
  expect(host.isOpen).toBe(true);
  await expect
    .poll(async () => (await loud.api('GET', '/api/v2/me/usage')).text)
    .toMatch(/"limit":"host_messages"[^}]*"refused":[1-9]/);
  await Promise.all([host.cut(), flood.host.cut()]);
  await strict.dispose();
});
