import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { ApiReply } from '../../testing/api-caller.ts';
import type { TestHost } from '../../testing/test-host.ts';
import { TestServer } from '../../testing/test-server.ts';

const serials = ['serial-1', 'serial-2', 'serial-3'];
let server: TestServer;
let host: TestHost;
let deviceIds: string[];
let automationId: string;

beforeAll(async () => {
  server = await TestServer.start({ sweepMs: 20 });
  ({ host, deviceIds } = await server.connectHost({ serials }));
  automationId = await server.createProject();
  const file = { path: 'main.ts', content: 'console.log(1);' };
  await server.api('PUT', `/api/v2/automation/file/${automationId}`, { body: file });
});
afterAll(async () => {
  await host.cut();
  await server.dispose();
});

const launch = (command: 'start' | 'stop', device_ids: readonly string[]): Promise<ApiReply> =>
  server.api('POST', '/api/v2/devices/launchAutomation', { body: { device_ids, automationId, command } });

const launchedRuns = (): string[] =>
  host.messages('launch').flatMap(({ runs }) => runs.map((run) => run.run_id));

it('of launches of one project at the same moment one starts on a phone, and the others start nothing', async () => {
  const [one, two, three] = deviceIds;
  const before = launchedRuns().length;
  const wanted = Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? [one, two] : [two, three]));
  const replies = await Promise.all(
    wanted.map((ids) =>
      launch(
        'start',
        ids.filter((id) => id !== undefined),
      ),
    ),
  );
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
  const refused = replies.filter(({ status }) => status !== 200);
  expect(new Set(refused.map(({ body }) => body['code']))).toEqual(new Set(['already_running']));
  expect(launchedRuns()).toHaveLength(before + 2);
  await launch('stop', deviceIds);
});

describe('a start with a launch_id', () => {
  const start = (launch_id: string, more: object): Promise<ApiReply> =>
    server.api('POST', '/api/v2/devices/launchAutomation', {
      body: { automationId, command: 'start', launch_id, ...more },
    });

  it('starts once, however often and at whichever moment it is sent, and gets the same answer', async () => {
    const before = launchedRuns().length;
    const key = crypto.randomUUID();
    const request = { device_ids: deviceIds, automationParameters: { a: 1, b: 2 } };
    const replies = await Promise.all(Array.from({ length: 6 }, () => start(key, request)));
    const [first] = replies;
    expect(first?.status, first?.text).toBe(200);
    expect(replies.map(({ body }) => body)).toEqual(Array(6).fill(first?.body));
    const again = { ...request, automationParameters: { b: 2, a: 1 } };
    expect((await start(key.toUpperCase(), again)).body).toMatchObject({ code: 'already_running' });
    expect((await start(key, again)).body).toEqual(first?.body);
    expect(launchedRuns()).toHaveLength(before + 3);

    await launch('stop', deviceIds);
    expect((await start(key, request)).body).toEqual(first?.body);
    const other = await start(key, { device_ids: deviceIds.slice(1) });
    expect(other).toMatchObject({ status: 400, body: { code: 'launch_id_conflict' } });
    expect(launchedRuns()).toHaveLength(before + 3);
    const { body } = await server.api('GET', `/api/v2/runs?automation_id=${automationId}&limit=1`);
    expect(body).toMatchObject({ runs: [{ launch_id: null, name: expect.any(String) }] });
  });

  it('of a selector starts nothing on other phones when it is sent again', async () => {
    const before = launchedRuns().length;
    const key = crypto.randomUUID();
    const request = { selector: 'serial~serial', count: 1 };
    const first = await start(key, request);
    expect(first.status, first.text).toBe(200);
    expect((await start(key, request)).body).toEqual(first.body);
    expect(launchedRuns()).toHaveLength(before + 1);
    await launch('stop', deviceIds);
  });

  it('that was refused before anything was sent does not use up its key', async () => {
    const key = crypto.randomUUID();
    const request = { device_ids: [...deviceIds, 'unknown'] };
    const refused = await start(key, request);
    expect(refused).toMatchObject({ status: 400, body: { code: 'devices_unavailable' } });
    expect(refused.body['devices']).toHaveLength(4);
    expect(await start(key, { device_ids: deviceIds })).toMatchObject({ status: 200 });
    await launch('stop', deviceIds);
  });
});

it('a lost run that comes back beside a later one of its project is stopped', async () => {
  const [one = ''] = deviceIds;
  await launch('start', [one]);
  const lost = launchedRuns().at(-1) ?? '';
  await host.cut();
  await expect
    .poll(async () => {
      server.clock.advance(121_000);
      return (await server.run(lost)).status;
    })
    .toBe('lost');
  const report = host.runs.get(lost);
  host.runs.delete(lost);
  await host.connect();
  expect((await launch('start', [one])).status).toBe(200);
  const later = launchedRuns().at(-1) ?? '';
  if (report !== undefined) host.runs.set(lost, report);
  await host.cut();
  await host.connect();
  await expect.poll(async () => (await server.run(lost)).status).toBe('stopped');
  expect(await server.run(later)).toMatchObject({ status: 'running' });
});

it('many runs that start on one host have the longer to begin, and those of another host do not wait for them', async () => {
  const patient = await TestServer.start({ ackTimeoutMs: 1000 });
  const eleven = Array.from({ length: 11 }, (_, index) => `many-${index}`);
  const many = await patient.connectHost({ serials: eleven, launchHabit: 'silent' });
  const single = await patient.connectHost({ launchHabit: 'silent' });
  const project = await patient.createProject();
  const file = { path: 'main.ts', content: 'console.log(1);' };
  await patient.api('PUT', `/api/v2/automation/file/${project}`, { body: file });
  const stopped = single.host.waitFor('stop');
  const asked = [many.host.waitFor('launch'), single.host.waitFor('launch')] as const;
  const device_ids = [...many.deviceIds, single.deviceId];
  const reply = patient.api('POST', '/api/v2/devices/launchAutomation', {
    body: { device_ids, automationId: project, command: 'start' },
  });
  const [ofMany, ofSingle] = await Promise.all(asked);
  expect([ofMany.start_within_ms, ofSingle.start_within_ms]).toEqual([2500, 1000]);
  const begun: string[] = [];
  await stopped;
  for (const { run_id } of ofMany.runs) {
    many.host.report(run_id, 'running');
    begun.push(run_id);
  }
  const { body } = await reply;
  const rows = body['devices'] as { run_id: string; outcome: string }[];
  const started = rows.filter(({ outcome }) => outcome === 'started').map(({ run_id }) => run_id);
  expect([body['code'], started.toSorted()]).toEqual(['launch_not_acknowledged', begun.toSorted()]);
  await Promise.all([many.host.cut(), single.host.cut()]);
  await patient.dispose();
});

it('a launch on a host that connects again and again starts once on its newest connection, or says that it did not', async () => {
  const fast = await TestServer.start({ ackTimeoutMs: 2000 });
  const { host: restless, deviceId } = await fast.connectHost();
  const reconnecting = (async () => {
    for (let times = 0; times < 30; times += 1) {
      await restless.connect();
      await sleep(100);
    }
  })();
  const replies: ApiReply[] = [];
  for (let at = 0; at < 30; at += 1) replies.push(await fast.start(deviceId));
  await reconnecting;
  const started = replies.filter(({ status }) => status === 200);
  expect(started.length, replies.map(({ text }) => text).join('\n')).toBeGreaterThan(0);
  const sent = restless.messages('launch').flatMap(({ runs }) => runs.map((run) => run.run_id));
  expect(sent).toEqual([...new Set(sent)]);
  for (const { body } of started) {
    const [row] = body['devices'] as { run_id: string }[];
    expect(sent).toContain(row?.run_id);
  }
  await restless.cut();
  await fast.dispose();
});
