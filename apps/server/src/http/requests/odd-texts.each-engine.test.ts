import { labelRoutes, projectRoutes, webhookRoutes } from '@phalanx/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { engines } from '../../testing/engines/test-database.ts';
import { TestServer } from '../../testing/test-server.ts';

const odd = ['NUL \0 inside', 'half \ud83d of a pair', '\0'];

describe.each(engines)('a text that %s can not store as it is', (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start({ engine });
  });
  afterAll(() => server.dispose());

  it.each(odd)('as a name (%j) is refused or taken, and found again', async (name) => {
    const created = await server.api('POST', projectRoutes.create.path, { body: { name } });
    expect([200, 201, 400]).toContain(created.status);
    const again = await server.api('POST', projectRoutes.create.path, { body: { name } });
    expect([201, 400, 409]).toContain(again.status);
    expect((await server.api('GET', projectRoutes.list.path)).status).toBe(200);
  });

  it.each(odd)(
    'as a name that a thing need not have (%j) is refused, and the thing stays as it was',
    async (name) => {
      const { host, deviceId } = await server.connectHost();
      const renamed = await server.api('PATCH', labelRoutes.renameDevice.path.replace(':id', deviceId), {
        body: { name },
      });
      expect(renamed).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
      const webhook = { url: 'https://example.com/hook', events: ['run.ended'], name };
      const created = await server.api('POST', webhookRoutes.create.path, { body: webhook });
      expect(created.status).toBe(400);
      await host.cut();
    },
  );

  it.each([
    ['GET', '/api/v2/runs/%00'],
    ['GET', '/api/v2/runs?automation_id=%00&device_id=a%00b'],
    ['GET', '/api/v2/runs/launches/%00'],
    ['GET', '/api/v2/automation-project/%00'],
    ['GET', '/api/v2/records?tag=%00&automation_id=%00'],
    ['GET', '/api/v2/audit?action=%00&user_id=%00'],
    ['DELETE', '/api/v2/tokens/%00'],
    ['DELETE', '/api/v2/devices/%00'],
  ])('in an address is answered: %s %s', async (method, address) => {
    expect((await server.api(method, address)).status).toBeLessThan(500);
  });

  it('as the ID of a launch is answered the same twice', async () => {
    const { host, deviceId } = await server.connectHost();
    const launchId = `launch \0 ${engine}`;
    const first = await server.start(deviceId, launchId);
    expect(first.status).toBeLessThan(500);
    expect((await server.start(deviceId, launchId)).text).toBe(first.text);
    await host.cut();
  });
});
