import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';

import { SharedPhone } from '../../fleet/devices/testing/shared-phone.ts';
import { Viewer } from './testing/viewers.ts';

/** Close code: the viewer may no longer see the phone. */
const notFound = 4004;

let phone: SharedPhone;
beforeAll(async () => {
  phone = await SharedPhone.start();
});
afterAll(() => phone.dispose());
beforeEach(() => phone.reset());

const label = (team: string): Promise<unknown> =>
  phone.api('owner')('PUT', `/api/v2/devices/${phone.deviceId}/labels`, { body: { labels: { team } } });

async function watch(limit: Record<string, unknown>, query = ''): Promise<Viewer> {
  const { secret } = await phone.server.createToken(limit);
  const address = `${phone.server.url}/api/v2/devices/${phone.deviceId}/live${query}`;
  return Viewer.open(address, { authorization: `Bearer ${secret}` });
}

/** Answers the next question for a picture with the picture of this hash. */
async function answerNext(hash: string): Promise<void> {
  const { request_id } = await phone.host.waitFor('live');
  const header = JSON.stringify({ type: 'live', request_id });
  const head = JSON.stringify({ captured_at: 1, width: 1, height: 1, hash });
  phone.host.sendRaw(Buffer.from(`${header}\n${head}\npicture ${hash}`));
}

it('a live view of a token that is limited to phones ends when the phone leaves its reach', async () => {
  await label('shop');
  const viewer = await watch({ selector: 'team=shop' });
  const [first] = await Promise.all([viewer.next(), answerNext('a')]);
  expect(first).toMatchObject({ type: 'frame', jpeg: 'picture a' });
  const asked = phone.host.waitFor('live');
  viewer.ask();
  const { request_id } = await asked;
  await label('bank');
  const head = JSON.stringify({ captured_at: 2, width: 1, height: 1, hash: 'b' });
  phone.host.sendRaw(
    Buffer.from(`${JSON.stringify({ type: 'live', request_id })}\n${head}\nsecret of the bank`),
  );
  expect(await viewer.ended).toBe(notFound);
  expect(viewer.messages).toHaveLength(1);
});

it('ends at once, also for a viewer who asks for nothing', async () => {
  await label('shop');
  const viewer = await watch({ selector: 'team=shop' }, '?video=h264');
  await label('bank');
  expect(await viewer.ended).toBe(notFound);
});
