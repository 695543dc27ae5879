import { randomBytes } from 'node:crypto';
import type { UsageRow } from '@phalanx/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createApiCaller, type ApiCaller, type ApiReply } from '../../testing/api-caller.ts';
import { recordReport, screenReport, sendReport } from '../../testing/records/record-reports.ts';
import { startBody, TestServer } from '../../testing/test-server.ts';
import { readUsage } from './testing/read-usage.ts';

const settings = {
  PHALANX_MAX_PROJECT_MB: '2',
  PHALANX_MAX_CAPTURE_MB: '1',
  PHALANX_LOG_KB_PER_SECOND: '150',
  PHALANX_RECORDS_KEPT: '1',
};

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ settings });
});
afterAll(() => server.dispose());

const usageRow = (token: string, limit: string): Promise<UsageRow> => readUsage({ server, token, limit });

const usedOf = async (token: string, limit: string): Promise<number> =>
  (await usageRow(token, limit)).used ?? -1;

describe('what the repositories of a user take', () => {
  const write = (api: ApiCaller, id: string, sizeBytes = 400_000): Promise<ApiReply> =>
    api('PUT', `/api/v2/automation/file/${id}`, {
      body: { path: 'data.txt', content: crypto.randomUUID().padEnd(sizeBytes, '.') },
    });

  it('counts also what was replaced, whatever dies in between, and is free again with the project', async () => {
    const [ada, bob] = [await server.createCaller('ada'), await server.createCaller('bob')];
    const id = await server.createProject(ada.api);
    const statuses: number[] = [];
    for (let number = 0; number < 6; number += 1) statuses.push((await write(ada.api, id)).status);
    // Each server counts up to 256 KiB ahead.
    const sureWrites = Math.floor((2 * 1024 * 1024 - server.urls.length * 256 * 1024) / 400_000);
    expect(sureWrites).toBeGreaterThan(2);
    expect(statuses.slice(0, sureWrites)).toEqual(Array(sureWrites).fill(200));
    expect(statuses.at(-1)).toBe(409);
    await server.restart();
    // Git has perhaps tidied up meanwhile: then there is room for a small file, and not for all of this.
    // All writes go to one server: each knows only its own work under way.
    const atOne = createApiCaller(server.url, ada.token);
    const more = await Promise.all(Array.from({ length: 8 }, () => write(atOne, id)));
    const refused = more.find(({ status }) => status === 409);
    expect(refused?.body).toMatchObject({ code: 'project_bytes_exceeded' });
    expect(await usedOf(ada.token, 'project_bytes')).toBeLessThanOrEqual(2 * 1024 * 1024);
    expect((await write(bob.api, await server.createProject(bob.api))).status).toBe(200);
    await ada.api('DELETE', `/api/v2/automation-project/${id}`);
    expect(await usedOf(ada.token, 'project_bytes')).toBe(0);
    expect((await write(ada.api, await server.createProject(ada.api))).status).toBe(200);
  });

  it('counts what an editor writes for the owner', async () => {
    const [carl, dora] = [await server.createCaller('carl'), await server.createCaller('dora')];
    const id = await server.createProject(carl.api);
    const path = `/api/v2/automation-project/${id}/members/${dora.userId}`;
    await carl.api('PUT', path, { body: { role: 'shared_editor' } });
    expect((await write(dora.api, id)).status).toBe(200);
    expect(await usedOf(carl.token, 'project_bytes')).toBeGreaterThan(400_000);
    expect(await usedOf(dora.token, 'project_bytes')).toBe(0);
  });
});

describe('the captures of a user', () => {
  it('are refused beyond the limit, also when they come at once, and count until their record is gone', async () => {
    const { api, token } = await server.createCaller('emma');
    const { host, deviceId } = await server.connectHost({ token }, api);
    const started = await api('POST', '/api/v2/devices/launchDirectAutomation', startBody(deviceId));
    expect(started.status).toBe(200);
    const runId = host.messages('launch')[0]?.runs[0]?.run_id ?? '';
    const screens = Array.from({ length: 6 }, () => screenReport());
    const report = recordReport(runId, { screens });
    await sendReport(host, report);
    const put = ({ screen_id }: { screen_id: string }, by: ApiCaller): Promise<ApiReply> =>
      by('PUT', `/api/v2/hosts/records/${report.record_id}/screens/${screen_id}/tree`, {
        // Trees are stored compressed, and what is random does not shrink further.
        raw: JSON.stringify({ root: randomBytes(253_000).toString('base64') }),
        contentType: 'application/json',
      });
    // All writes go to one server: each knows only its own work under way.
    const atOne = createApiCaller(server.url, token);
    const replies = await Promise.all(screens.map((screen) => put(screen, atOne)));
    const statuses = replies.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([200, 200, 200, 200, 409, 409]);
    expect(replies.find(({ status }) => status === 409)?.body).toMatchObject({
      code: 'capture_bytes_exceeded',
    });
    const refused = screens.find((_, at) => replies[at]?.status === 409) ?? screenReport();
    for (const _url of server.urls) expect((await put(refused, api)).status).toBe(409);
    const used = await usedOf(token, 'capture_bytes');
    expect(used).toBeGreaterThan(4 * 250_000);
    expect(used).toBeLessThanOrEqual(1024 * 1024);
    await sendReport(host, recordReport(runId));
    expect(await usedOf(token, 'capture_bytes')).toBe(0);
    await server.restart();
    expect(await usedOf(token, 'capture_bytes')).toBe(0);
  });
});

describe('the logs of a user', () => {
  it('wait at the host when they are too many, none is lost, and other users are not held up', async () => {
    const [fred, gina] = [await server.createCaller('fred'), await server.createCaller('gina')];
    const start = async ({ api, token }: typeof fred) => {
      const { host, deviceId } = await server.connectHost({ token }, api);
      await api('POST', '/api/v2/devices/launchDirectAutomation', startBody(deviceId));
      return { host, runId: host.messages('launch')[0]?.runs[0]?.run_id ?? '' };
    };
    const flood = await start(fred);
    const other = await start(gina);
    const line = 'x'.repeat(1000);
    flood.host.buffer(
      flood.runId,
      Array.from({ length: 660 }, () => [Date.now(), 0, 1, line]),
    );
    flood.host.sendLogs(flood.runId, 20);
    await flood.host.heartbeat();
    await expect.poll(async () => (await usageRow(fred.token, 'log_bytes')).refused).toBeGreaterThan(0);
    await other.host.log(other.runId, ['in time']);
    expect(flood.host.logBuffers.get(flood.runId)?.entries.length).toBeGreaterThan(0);
    await flood.host.logsStored(flood.runId);
    expect(flood.host.isOpen).toBe(true);
    await Promise.all([flood.host.cut(), other.host.cut()]);
  });
});

describe('launches', () => {
  it('take turns until they are sent, and nobody waits for a host that is slow to answer', async () => {
    const { api, token } = await server.createCaller('ingo');
    const { host, deviceId } = await server.connectHost({ token, serials: ['slow'] }, api);
    host.launchHabit = 'silent';
    const sent = host.waitFor('launch');
    const launched = api('POST', '/api/v2/devices/launchDirectAutomation', startBody(deviceId));
    const runId = (await sent).runs[0]?.run_id ?? '';
    const metrics = async (): Promise<string> => (await server.api('GET', '/metrics')).text;
    await expect.poll(metrics).toContain('phalanx_turns{work="launches",state="working"} 0');
    host.report(runId, 'running');
    expect((await launched).status).toBe(200);
    await host.cut();
  });
});
