import { afterAll, beforeAll, expect, it } from 'vitest';

import { TestServer } from '../../../testing/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.dispose());

it('a pairing has a code for the phone, which its host gets too', async () => {
  const { host } = await server.connectHost({ requestHabit: 'answer' });
  const { status, body } = await server.api('POST', `/api/v2/hosts/${host.hostId}/pairings`);
  expect(status).toBe(201);
  const asked = host.messages('pairing').at(-1);
  expect(body['code']).toBe(`WIFI:T:ADB;S:${asked?.name};P:${asked?.password};;`);
  const again = await server.api('GET', `/api/v2/hosts/${host.hostId}/pairings/${asked?.name}`);
  expect(again.body['pairing']).toMatchObject({ state: 'waiting' });
  expect(host.messages('pairing').at(-1)).toMatchObject({ name: asked?.name, password: null });
});

it('what is in the way of a pairing is told: its host, a pairing that is not known, a host that is away', async () => {
  const { host } = await server.connectHost();
  const path = `/api/v2/hosts/${host.hostId}/pairings`;
  const answer = async (send: (requestId: string) => void): Promise<void> =>
    host.waitFor('pairing').then(({ request_id: id }) => send(id));
  const refused = answer((request_id) =>
    host.send({ type: 'request_failed', request_id, message: 'it uses no ADB server' }),
  );
  const failed = await server.api('POST', path);
  await refused;
  expect([failed.status, failed.body['code']]).toEqual([502, 'pairing_failed']);
  expect(failed.text).toContain('it uses no ADB server');
  const unknown = answer((request_id) =>
    host.sendRaw(Buffer.from(`${JSON.stringify({ type: 'pairing', request_id })}\nnull`)),
  );
  const missing = await server.api('GET', `${path}/phalanx-9`);
  await unknown;
  expect([missing.status, missing.body['code']]).toEqual([404, 'pairing_not_found']);
  await host.cut();
  await expect.poll(async () => (await server.api('POST', path)).body['code']).toBe('host_offline');
});
