import { afterEach, describe, expect, it } from 'vitest';

import { EventReader } from '../../testing/event-reader.ts';
import type { TestHost } from '../../testing/test-host.ts';
import { adminToken, type TestServer } from '../../testing/test-server.ts';
import { canBeSeveral, startServers } from '../../testing/test-servers.ts';

describe.skipIf(!canBeSeveral)('events of several servers', () => {
  let servers: TestServer[] = [];
  let host: TestHost | undefined;
  const readers: EventReader[] = [];

  afterEach(async () => {
    for (const reader of readers.splice(0)) reader.close();
    await host?.cut();
    for (const server of servers.splice(0)) await server.close();
  });

  async function follow(server: TestServer, query = '', token = adminToken): Promise<EventReader> {
    const reader = await EventReader.open(`${server.url}/api/v2/events${query}`, token);
    readers.push(reader);
    return reader;
  }

  it('reach who follows at another one, from the moment that the stream begins, each once', async () => {
    servers = await startServers(2);
    const [one, other] = servers;
    if (one === undefined || other === undefined) throw new Error('two servers were to start');
    const connected = await one.connectHost();
    ({ host } = connected);
    const { deviceId } = connected;
    const reader = await follow(other, '?types=run,log');
    const { runId } = await one.startRun(host, deviceId);
    await host.log(runId, ['first', 'second']);
    const logs = () => reader.received.filter(({ event }) => event === 'log');
    await expect.poll(logs).toHaveLength(1);
    expect(JSON.stringify(logs())).toContain('second');
    host.report(runId, 'completed');
    const statuses = () =>
      reader.received.filter(({ event }) => event === 'run').map(({ data }) => statusOf(data));
    await expect.poll(statuses).toEqual(['starting', 'running', 'completed']);
    expect(logs()).toHaveLength(1);
  });

  it('are nobody else’s at another server either', async () => {
    servers = await startServers(2);
    const [one, other] = servers;
    if (one === undefined || other === undefined) throw new Error('two servers were to start');
    const stranger = await other.createCaller('stranger');
    const reader = await follow(other, '', stranger.token);
    const own = await follow(other);
    const connected = await one.connectHost();
    ({ host } = connected);
    await one.startRun(host, connected.deviceId);
    await expect.poll(() => own.received.map(({ data }) => statusOf(data))).toContain('running');
    expect(reader.received).toEqual([]);
  });
});

function statusOf(data: unknown): string | undefined {
  const { run } = data as { run?: { status: string } };
  return run?.status;
}
