import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createApiCaller } from '../../testing/api-caller.ts';
import type { TestHost } from '../../testing/test-host.ts';
import type { TestServer } from '../../testing/test-server.ts';
import { canBeSeveral, startServers } from '../../testing/test-servers.ts';

describe.skipIf(!canBeSeveral)('logs that are read at a server that does not have the host', () => {
  let servers: TestServer[] = [];
  let one: TestServer;
  let other: TestServer;
  let host: TestHost;
  let deviceId = '';

  beforeEach(async () => {
    servers = await startServers(2);
    const [first, second] = servers;
    if (first === undefined || second === undefined) throw new Error('two servers were to start');
    [one, other] = [first, second];
    ({ host, deviceId } = await one.connectHost());
  });
  afterEach(async () => {
    await host.cut();
    for (const server of servers.splice(0)) await server.close();
  });

  const statusFor = async (token: string, launchId: string): Promise<number> => {
    const body = { device_id: deviceId, automation_ids: [launchId] };
    return (await createApiCaller(other.url, token)('POST', '/api/v2/devices/automationLogs', { body }))
      .status;
  };

  it('are there at once, again and again, in pages and from any cursor', async () => {
    const { launchId, runId } = await one.startRun(host, deviceId);
    const read: string[] = [];
    let from: string | undefined;
    for (let no = 1; no <= 30; no += 1) {
      await host.log(
        runId,
        Array.from({ length: 100 }, (_, at) => `${no} ${at}`),
      );
      const page = await other.logs(deviceId, [launchId], from);
      read.push(...page.map(({ message }) => message));
      from = page.at(-1)?.id ?? from;
      expect(read).toHaveLength(no * 100);
    }
    const all = await other.allLogs(deviceId, [launchId]);
    expect(all.map(({ message }) => message)).toEqual(read);
    for (const cut of [0, 99, 100, 1500, 2999])
      expect(await other.allLogs(deviceId, [launchId], all[cut]?.id)).toEqual(all.slice(cut + 1));
  });

  it('are nobody’s whose share has ended, and of no phone that is forgotten, soon after', async () => {
    const member = await one.createCaller('member');
    const stranger = await one.createCaller('stranger');
    const { launchId, runId } = await one.startRun(host, deviceId);
    const share = `/api/v2/devices/${deviceId}/members/${member.userId}`;
    expect((await one.api('PUT', share, { body: { role: 'view' } })).status).toBe(200);
    await expect.poll(() => statusFor(member.token, launchId)).toBe(200);
    expect(await statusFor(stranger.token, launchId)).toBe(404);
    await one.api('DELETE', share);
    await expect.poll(() => statusFor(member.token, launchId)).toBe(404);
    host.report(runId, 'completed');
    await expect.poll(async () => (await one.run(runId)).status).toBe('completed');
    await host.cut();
    await expect.poll(async () => (await one.api('DELETE', `/api/v2/devices/${deviceId}`)).status).toBe(200);
    await expect.poll(() => other.logs(deviceId, [launchId]).catch(() => 'gone')).toBe('gone');
  });
});
