import { setTimeout as sleep } from 'node:timers/promises';
import { closeCodes, type LiveFrame } from '@phalanx/protocol';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { SharedPhone, type Caller } from '../../fleet/devices/testing/shared-phone.ts';
import { Viewer } from './testing/viewers.ts';

let phone: SharedPhone;
/** Address of the server that all viewers connect to, because each server asks the host for its own picture. */
let address: string;
beforeAll(async () => {
  phone = await SharedPhone.start();
});
afterAll(() => phone.dispose());
beforeEach(async () => {
  await phone.reset();
  address = phone.server.url;
});

const watch = (caller: Caller, headers?: Record<string, string>, query = ''): Promise<Viewer> =>
  Viewer.open(`${address}/api/v2/devices/${phone.deviceId}/live${query}`, {
    authorization: `Bearer ${phone.secretOf(caller)}`,
    ...headers,
  });
const watchVideo = (caller: Caller): Promise<Viewer> => watch(caller, {}, '?video=h264');

const frame = (hash: string, captured_at = 1): LiveFrame => ({
  captured_at,
  width: 1080,
  height: 2400,
  hash,
});

/** Answers the next question for a picture. Returns the hash that the question names as known. */
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
      reason: expect.stringContaining('unexpected answer'),
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

const key = (text: string) => ({ is_key: true, text });
const delta = (text: string) => ({ is_key: false, text });

interface Packet {
  readonly is_key: boolean;
  readonly text: string;
}

/** Returns an answer with video packets, starting at this number. */
function videoFrom(request_id: string, number: number, packets: readonly Packet[]): Buffer {
  const head = {
    captured_at: 1,
    width: 1080,
    height: 2400,
    codec: 'avc1.42C032',
    first: { stream: 's', number },
    packets: packets.map(({ is_key, text }) => ({ is_key, size_bytes: text.length })),
  };
  const bytes = packets.map(({ text }) => text).join('');
  return Buffer.from(`${JSON.stringify({ type: 'video', request_id })}\n${JSON.stringify(head)}\n${bytes}`);
}

/**
 * Answers the next question for video, starting at this packet number. Returns the number that the question asked to
 * begin after.
 */
async function answerVideo(number: number, packets: readonly Packet[]) {
  const { request_id, after } = await phone.host.waitFor('video');
  phone.host.sendRaw(videoFrom(request_id, number, packets));
  return after && after.number;
}

async function refuseVideo(reason: string): Promise<void> {
  const { request_id } = await phone.host.waitFor('video');
  phone.host.sendRaw(
    Buffer.from(`${JSON.stringify({ type: 'video', request_id })}\n${JSON.stringify({ reason })}\n`),
  );
}

describe('a live view in H.264', () => {
  it('sends packets as they come, and begins with the last key frame for who comes later', async () => {
    const first = await watchVideo('owner');
    let asked = answerVideo(5, [key('K'), delta('a')]);
    expect(await first.next()).toEqual({
      type: 'video',
      captured_at: 1,
      width: 1080,
      height: 2400,
      codec: 'avc1.42C032',
      jpeg: 'Ka',
      packets: [
        { is_key: true, size_bytes: 1 },
        { is_key: false, size_bytes: 1 },
      ],
    });
    expect(await asked).toBeNull();
    asked = answerVideo(7, [delta('bb')]);
    expect(await first.next()).toMatchObject({ type: 'video', jpeg: 'bb' });
    expect(await asked).toBe(6);
    asked = answerVideo(8, []);
    expect(await first.next()).toEqual({ type: 'still', captured_at: 1 });
    await asked;
    const second = await watchVideo('view');
    asked = answerVideo(5, [key('K'), delta('a'), delta('bb'), delta('c')]);
    const both = await Promise.all([second.next(), first.next()]);
    expect(both.map(({ jpeg }) => jpeg)).toEqual(['Kabbc', 'c']);
    expect(await asked).toBeNull();
    first.close();
    second.close();
  });

  it('asks a host that has nothing new and says so at once, or says very much, only a few times a second', async () => {
    const before = phone.host.messages('video').length;
    let number = 0;
    const same = (): Packet[] => [key('K')];
    const much = (): Packet[] => Array.from({ length: 100 }, () => key(''));
    for (const [name, packets, step] of [
      ['the same', same, 0],
      ['much', much, 100],
    ] as const) {
      phone.host.answerWith = (question) =>
        question.type === 'video' ? videoFrom(question.request_id, (number += step), packets()) : undefined;
      const viewer = await watchVideo('owner');
      for (let count = 0; count < 30; count += 1) viewer.ask();
      await sleep(1000);
      expect(phone.host.messages('video').length - before, name).toBeLessThan(12);
      viewer.close();
    }
    phone.host.answerWith = () => undefined;
  });

  it('becomes pictures where there is no video, says why, and is video again without a new connection', async () => {
    const viewer = await watchVideo('owner');
    const picture = (hash: string) =>
      Promise.all([refuseVideo('a mask is active'), answerNext(frame(hash), hash)]);
    let asked = picture('a');
    expect(await viewer.next()).toMatchObject({ type: 'frame', no_video: 'a mask is active', jpeg: 'a' });
    await asked;
    // The host is not asked for video again within one second.
    const still = answerNext(frame('a'), '');
    expect(await viewer.next()).toMatchObject({ type: 'still', no_video: 'a mask is active' });
    await still;
    await sleep(1000);
    const video = answerVideo(0, [key('K')]);
    expect(await viewer.next()).toMatchObject({ type: 'video', jpeg: 'K' });
    await video;
    asked = picture('a');
    expect(await viewer.next()).toMatchObject({ type: 'frame', jpeg: 'a' });
    await asked;
    viewer.close();
  });

  it('skips to a key frame for one who does not read, and keeps nobody waiting', async () => {
    const slow = await watchVideo('owner');
    const other = await watchVideo('launch');
    let number = 0;
    const group = (): { is_key: boolean; text: string }[] => {
      const half = 'x'.repeat(512 * 1024);
      return [key(`K${number}${half}`), delta(`d${number}${half}`)];
    };
    slow.pause();
    for (; number < 40; number += 2) {
      slow.ask();
      const asked = answerVideo(number, group());
      expect((await other.next()).jpeg?.includes(`d${number}x`)).toBe(true);
      await asked;
    }
    expect(slow.messages).toEqual([]);
    slow.resume();
    const hasEnd = (): boolean => slow.messages.at(-1)?.jpeg === 'END.';
    for (; !hasEnd(); number += 2) {
      slow.ask();
      const asked = answerVideo(number, [key('END'), delta('.')]);
      await Promise.all([other.next(), asked]);
    }
    expect(slow.messages.length).toBeLessThan(20);
    for (const { packets } of slow.messages) expect(packets?.[0]?.is_key).toBe(true);
    slow.close();
    other.close();
  });

  it('sends no frame after the share has ended, and none after the token', async () => {
    const viewer = await watchVideo('view');
    await Promise.all([viewer.next(), answerVideo(0, [key('K')])]);
    viewer.ask();
    const { request_id } = await phone.host.waitFor('video');
    await phone.unshare(`devices/${phone.deviceId}`, 'view');
    const head = `{"captured_at":1,"width":1,"height":1,"codec":"c","first":{"stream":"s","number":1},"packets":[{"is_key":true,"size_bytes":1}]}`;
    phone.host.sendRaw(Buffer.from(`${JSON.stringify({ type: 'video', request_id })}\n${head}\nX`));
    expect(await viewer.ended).toBe(4004);
    expect(viewer.messages).toHaveLength(1);
    const { secret, id } = await phone.server.createToken({});
    const other = await watch('owner', { authorization: `Bearer ${secret}` }, '?video=h264');
    await phone.server.api('DELETE', `/api/v2/tokens/${id}`);
    expect(await other.ended).toBe(closeCodes.unauthorized);
  });

  it('is refused for a video that this service does not know', async () => {
    await expect(watch('owner', {}, '?video=av1')).rejects.toThrow('400');
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
