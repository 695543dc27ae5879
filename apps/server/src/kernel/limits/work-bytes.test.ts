import { afterAll, beforeAll, expect, it } from 'vitest';
import { startBody, TestServer } from '../../testing/test-server.ts';
import { readUsage } from './testing/read-usage.ts';

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ settings: { PHALANX_MAX_WORK_MB: '1' } });
});
afterAll(() => server.dispose());

it('inputs of jobs, the work of schedules and what launches are given are refused beyond the limit of their user', async () => {
  const { api, token } = await server.createCaller('mallory');
  const { deviceId } = await server.connectHost({ token }, api);
  const automation_id = await server.createProject(api);
  const text = 'x'.repeat(60_000);
  const job = () =>
    api('POST', '/api/v2/jobs', {
      body: { automation_id, selector: 'serial=none', inputs: Array.from({ length: 8 }, () => ({ text })) },
    });
  const first = await job();
  expect(first.status, first.text).toBe(201);
  expect((await job()).status).toBe(201);
  expect(await readUsage({ server, token, limit: 'work_bytes' })).toMatchObject({ used: expect.any(Number) });
  expect((await readUsage({ server, token, limit: 'work_bytes' })).used).toBeGreaterThan(960_000);
  const refused = await job();
  expect([refused.status, refused.body['code']]).toEqual([409, 'work_bytes_exceeded']);
  const times = { cron: '0 2 * * *', time_zone: 'UTC', paused: true };
  const schedule = await api('POST', '/api/v2/schedules', {
    body: { automation_id, selector: 'serial=none', ...times, parameters: { text: text.repeat(2) } },
  });
  expect(schedule.body['code']).toBe('work_bytes_exceeded');
  const launch = await api('POST', '/api/v2/devices/launchDirectAutomation', {
    body: { ...startBody(deviceId).body, code: `// ${'y'.repeat(100_000)}` },
  });
  expect(launch.body['code']).toBe('work_bytes_exceeded');
  const [{ id }] = [first.body['job'] as { id: string }];
  await api('POST', `/api/v2/jobs/${id}/cancel`);
  expect((await api('DELETE', `/api/v2/jobs/${id}`)).status).toBe(200);
  expect((await job()).status).toBe(201);
});
