import { afterAll, beforeAll, expect, it } from 'vitest';

import { SharedPhone } from '../../fleet/devices/testing/shared-phone.ts';
import { type ApiReply, createApiCaller } from '../../testing/api-caller.ts';

let phone: SharedPhone;
beforeAll(async () => {
  phone = await SharedPhone.start();
  const secret = `/api/v2/automation-project/${phone.project.id}/secrets/PIN`;
  await phone.api('owner')('PUT', secret, { body: { value: 'a-secret-of-the-tests' } });
});
afterAll(() => phone.dispose());

async function typeSecret(scopes: readonly string[]): Promise<ApiReply> {
  const { secret } = await phone.server.createToken({ scopes });
  const body = { steps: [{ type: 'type', secret: 'PIN' }], project_id: phone.project.id };
  const path = `/api/v2/devices/${phone.deviceId}/act`;
  return createApiCaller(phone.server.url, secret)('POST', path, { body });
}

it('a step that types a secret takes the scope edit, as setting one does', async () => {
  const before = phone.host.received.length;
  expect((await typeSecret(['read', 'launch'])).body).toMatchObject({
    code: 'forbidden',
    message: expect.stringContaining('"edit"'),
  });
  expect(phone.host.received.slice(before).filter(({ type }) => type === 'act')).toEqual([]);
});
