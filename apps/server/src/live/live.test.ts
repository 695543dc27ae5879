import { closeCodes, type LiveFrame } from '@phalanx/protocol';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { SharedPhone, type Caller } from '../devices/testing/shared-phone.ts';
import { Viewer } from './testing/viewer.ts';

let phone: SharedPhone;
/** The server at which all watch: each asks the host for a picture of its own. */
let address: string;
beforeAll(async () => {
  phone = await SharedPhone.start();
});
afterAll(() => phone.dispose());
beforeEach(async () => {
  await phone.reset();
  address = phone.server.url;
});

const watch = (caller: Caller, headers?: Record<string, string>): Promise<Viewer> =>
  Viewer.open(`${address}/api/v2/devices/${phone.deviceId}/live`, {
    authorization: `Bearer ${phone.secretOf(caller)}`,
    ...headers,
  });

const frame = (hash: string, captured_at = 1): LiveFrame => ({
  captured_at,
  width: 1080,
  height: 2400,
  hash,
});

/** The host's answer to the next question for a picture. */
async function answerNext(head: unknown, jpeg = ''): Promise<string | null> {
  const { request_id, known } = await phone.host.waitFor('live');
  const header = JSON.stringify({ type: 'live', request_id });
  phone.host.sendRaw(Buffer.from(`${header}\n${JSON.stringify(head)}\n${jpeg}`));
  return known;
}

describe('a live view', () => {
  it('gives a picture for each "next", and says when the screen is still the same', async () => {
    const viewer = await watch('view');
    let asked = answerNext(frame('a'), 'picture a');
    expect(await viewer.next()).toEqual({
      type: 'frame',
      captured_at: 1,
      width: 1080,
      height: 2400,
      jpeg: 'picture a',
    });
    expect(await asked).toBeNull();
    asked = answerNext(frame('a', 2));
    expect(await viewer.next()).toEqual({ type: 'still', captured_at: 2 });
    expect(await asked).toBe('a');
    asked = answerNext(frame('b', 3), 'picture b');
    expect(await viewer.next()).toMatchObject({ type: 'frame', jpeg: 'picture b' });
    await asked;
    viewer.close();
  });

  it('asks the host once for all who watch, and whoever came later gets the picture that is known', async () => {
    const first = await watch('owner');
    await Promise.all([first.next(), answerNext(frame('a'), 'picture a')]);
    const second = await watch('launch');
    const before = phone.host.messages('live').length;
    const asked = answerNext(frame('a', 2));
    const both = await Promise.all([first.next(), second.next(), asked]);
    expect(both).toMatchObject([
      { type: 'still' },
      { type: 'frame', captured_at: 2, jpeg: 'picture a' },
      'a',
    ]);
    expect(phone.host.messages('live').length - before).toBe(1);
    first.close();
    second.close();
  });

  it('asks nothing of the host while nobody asks', async () => {
    const viewer = await watch('owner');
    await Promise.all([viewer.next(), answerNext(frame('a'), 'picture a')]);
    const before = phone.host.messages('live').length;
    await phone.host.heartbeat();
    await phone.host.heartbeat();
    expect(phone.host.messages('live').length).toBe(before);
    viewer.close();
  });

  it('says why there is no picture, and has one when there is one again', async () => {
    const viewer = await watch('owner');
    const refused = phone.host.waitFor('live').then(({ request_id }) => {
      phone.host.send({ type: 'request_failed', request_id, message: 'The screen is off.' });
    });
    expect(await viewer.next()).toEqual({ type: 'nothing', reason: 'The screen is off.' });
    await refused;
    const hostile = answerNext({ width: 'all of it' }, 'picture');
    expect(await viewer.next()).toMatchObject({
      type: 'nothing',
      reason: expect.stringContaining('something else'),
    });
    await hostile;
    const asked = answerNext(frame('b'), 'picture b');
    expect(await viewer.next()).toMatchObject({ type: 'frame', jpeg: 'picture b' });
    await asked;
    viewer.close();
  });

  it('ends with the share, though its viewer asks for nothing', async () => {
    const viewer = await watch('view');
    await phone.unshare(`devices/${phone.deviceId}`, 'view');
    expect(await viewer.ended).toBe(4004);
  });

  it('ends with the share, and with its token', async () => {
    const viewer = await watch('view');
    await phone.unshare(`devices/${phone.deviceId}`, 'view');
    void answerNext(frame('a'), 'picture a');
    viewer.ask();
    expect(await viewer.ended).toBe(4004);
    expect(viewer.messages).toEqual([]);
    const { secret, id } = await phone.server.createToken({});
    const other = await watch('owner', { authorization: `Bearer ${secret}` });
    await phone.server.api('DELETE', `/api/v2/tokens/${id}`);
    expect(await other.ended).toBe(closeCodes.unauthorized);
  });

  it('is refused like every endpoint: to strangers, without a token, without a WebSocket, to a page of another address', async () => {
    await expect(watch('stranger')).rejects.toThrow('404');
    await expect(watch('owner', { authorization: 'Bearer phx_unknown' })).rejects.toThrow('401');
    const plain = await phone.api('owner')('GET', `/api/v2/devices/${phone.deviceId}/live`);
    expect([plain.status, plain.body['code']]).toEqual([426, 'upgrade_required']);
    const session = await phone.signIn(address);
    const cookie = { cookie: session, authorization: '' };
    await expect(watch('owner', { ...cookie, origin: 'http://evil.example' })).rejects.toThrow('403');
    await expect(watch('owner', cookie)).rejects.toThrow('403');
    (await watch('owner', { ...cookie, origin: address })).close();
  });

  it('ends for who says something else', async () => {
    const viewer = await watch('owner');
    viewer.send('{"type":"more"}');
    expect(await viewer.ended).toBe(1008);
  });

  it('goes on for others beside one who does not read', async () => {
    const slow = await watch('owner');
    slow.pause();
    const other = await watch('launch');
    for (let at = 0; at < 20; at += 1) {
      slow.ask();
      const asked = answerNext(frame(`${at}`), 'x'.repeat(1024 * 1024));
      expect(await other.next()).toMatchObject({ type: 'frame' });
      await asked;
    }
    slow.resume();
    expect(await slow.ended).toBe(1006);
    expect(slow.messages.length).toBeLessThan(20);
    other.close();
  });
});

describe('the service', () => {
  it('ends live views when it stops', async () => {
    const own = await SharedPhone.start();
    const viewer = await Viewer.open(`${own.server.url}/api/v2/devices/${own.deviceId}/live`, {
      authorization: `Bearer ${own.secretOf('owner')}`,
    });
    await own.dispose();
    expect(await viewer.ended).toBe(1001);
  });
});
