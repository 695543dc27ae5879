import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';

import type { ApiReply } from '../testing/api-caller.ts';
import type { TestHost } from '../testing/test-host.ts';
import { TestServer } from '../testing/test-server.ts';

const serials = ['serial-1', 'serial-2', 'serial-3'];
let server: TestServer;
let host: TestHost;
let deviceIds: string[];
let automationId: string;

beforeAll(async () => {
  server = await TestServer.start({ sweepMs: 20, heartbeatMs: 60_000 });
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

it('a launch on a host that connects again and again starts once on its newest connection, or says that it did not', async () => {
  const fast = await TestServer.start({ heartbeatMs: 60_000, ackTimeoutMs: 2000 });
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
