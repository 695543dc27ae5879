import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';

import type { ApiReply } from '../../testing/api-caller.ts';
import type { TestHost } from '../../testing/test-host.ts';
import { TestServer } from '../../testing/test-server.ts';

let server: TestServer;
let host: TestHost;
let deviceId: string;
let projectId: string;

beforeAll(async () => {
  server = await TestServer.start();
  ({ host, deviceId } = await server.connectHost());
});
afterAll(() => server.dispose());
beforeEach(async () => {
  projectId = await server.createProject();
  await write('main.js', 'console.log(1)');
  // Reconnects the host, because the server may have dropped its connection on a busy machine.
  await host.cut();
  await host.connect();
});

const write = (path: string, content: string): Promise<ApiReply> =>
  server.api('PUT', `/api/v2/automation/file/${projectId}`, { body: { path, content } });

const launch = (): Promise<ApiReply> =>
  server.api('POST', '/api/v2/devices/launchAutomation', {
    body: { device_ids: [deviceId], automationId: projectId, command: 'start' },
  });

const launches = () => host.messages('launch').filter((message) => message.automation_id === projectId);

it('are handed to the host with the run', async () => {
  const masks = [
    { viewId: 'balance', packageName: 'com.example.bank' },
    { area: { left: 0, top: 0.9, right: 1, bottom: 1 } },
  ];
  await write('masks.json', JSON.stringify(masks));
  expect((await launch()).status).toBe(200);
  expect(launches()[0]?.masks).toEqual(masks);
});

it.each([
  ['no JSON', '[', 'it is not JSON'],
  ['no list', '{"viewId": "balance"}', 'it must be a list of masks'],
  ['a misspelt condition', '[{"viewId": "a"}, {"viewid": "b"}]', 'mask 2 is invalid'],
  ['a mask without a condition', '[{}]', 'mask 1 is invalid'],
  [
    'an area beyond the screen',
    '[{"area": {"left": 0, "top": 0, "right": 2, "bottom": 1}}]',
    'mask 1 is invalid',
  ],
  ['too many', JSON.stringify(Array.from({ length: 101 }, () => ({ text: 'a' }))), 'more than 100'],
])('with %s are told when they are written, and launch nothing', async (_, content, problem) => {
  const { body } = await write('masks.json', content);
  expect(JSON.stringify(body['warnings'])).toContain(content === '[' ? 'masks.json(' : problem);
  const refused = await launch();
  expect([refused.status, refused.body['code']]).toEqual([400, 'invalid_masks']);
  expect(refused.body['message']).toContain(problem);
  expect(launches()).toEqual([]);
});
