import { afterAll, beforeAll, expect, it } from 'vitest';

import { TestServer } from '../../testing/test-server.ts';

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.dispose());

it('ten thousand unknown devices are told of in a message that people can read', async () => {
  const automationId = await server.createProject();
  const file = { path: 'main.ts', content: 'console.log(1);' };
  await server.api('PUT', `/api/v2/automation/file/${automationId}`, { body: file });
  const device_ids = Array.from({ length: 10_000 }, () => crypto.randomUUID());
  const { status, body } = await server.api('POST', '/api/v2/devices/launchAutomation', {
    body: { device_ids, automationId, command: 'start' },
  });
  expect([status, body['code']]).toEqual([400, 'devices_unavailable']);
  expect(body['message']).toContain(`${device_ids[19]} (not found); and 9,980 more`);
  expect(body['message']).not.toContain(device_ids[20]);
});
