import { closeCodes, maxWallPhones, maxWallPicturesAhead } from '@phalanx/protocol';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestHost } from '../../testing/test-host.ts';
import { adminToken, TestServer } from '../../testing/test-server.ts';
import { WallWatcher } from './testing/viewers.ts';

const serials = ['wall-1', 'wall-2', 'wall-3'] as const;

let server: TestServer;
/** Address of the server that all viewers connect to, because each server asks the host for its own pictures. */
let address: string;
let host: TestHost;
let one: string;
let two: string;
let three: string;
/** Pictures of the phones, by serial number; undefined: the screen is off. */
let shows: Map<string, string | undefined>;
let guest: { userId: string; token: string };

beforeAll(async () => {
  server = await TestServer.start();
  const connected = await server.connectHost({ serials });
  host = connected.host;
  [one = '', two = '', three = ''] = connected.deviceIds;
  guest = await server.createCaller('guest');
  host.answerWith = (question) => {
    if (question.type !== 'wall') return undefined;
    const { type, request_id, serial, known } = question;
    const hash = shows.get(serial);
    if (hash === undefined)
      return JSON.stringify({ type: 'request_failed', request_id, message: 'The screen is off.' });
    const frame = JSON.stringify({ captured_at: 1, width: 1080, height: 2400, hash });
    const picture = known === hash ? '' : `picture ${hash}`;
    return Buffer.from(`${JSON.stringify({ type, request_id })}\n${frame}\n${picture}`);
  };
});
afterAll(async () => {
  await host.cut();
  await server.dispose();
});
beforeEach(() => {
  address = server.url;
  shows = new Map(serials.map((serial) => [serial, `${serial} a`]));
});

const open = (token = adminToken, query = ''): Promise<WallWatcher> =>
  WallWatcher.open(address, token, query);
const asked = (serial: string): number =>
  host.messages('wall').filter((question) => question.serial === serial).length;
const share = (method: 'PUT' | 'DELETE') =>
  server.api(method, `/api/v2/devices/${one}/members/${guest.userId}`, {
    ...(method === 'PUT' && { body: { role: 'view' } }),
  });
const pictures = (watcher: WallWatcher, deviceId: string) =>
  expect.poll(() => watcher.picturesOf(deviceId), { timeout: 10_000 });

describe('a wall', () => {
  it('gives the pictures of all its phones on one connection, and nothing of those that show the same', async () => {
    const wall = await open();
    wall.watch(one, two);
    await pictures(wall, one).toEqual(['picture wall-1 a']);
    await pictures(wall, two).toEqual(['picture wall-2 a']);
    shows.set('wall-2', 'wall-2 b');
    await pictures(wall, two).toEqual(['picture wall-2 a', 'picture wall-2 b']);
    expect(wall.received[0]).toMatchObject({ type: 'frame', width: 1080, height: 2400, captured_at: 1 });
    expect(wall.picturesOf(one)).toHaveLength(1);
    expect(asked('wall-3')).toBe(0);
    wall.leave(two);
    shows.set('wall-1', 'wall-1 b');
    await pictures(wall, one).toHaveLength(2);
    const before = asked('wall-2');
    shows.set('wall-1', 'wall-1 c');
    shows.set('wall-2', 'wall-2 c');
    await pictures(wall, one).toHaveLength(3);
    expect(asked('wall-2')).toBe(before);
    expect(wall.picturesOf(two)).toHaveLength(2);
    wall.close();
  });

  it('asks for the picture of a phone once for all who watch it', async () => {
    const [first, second] = [await open(), await open()];
    first.watch(one);
    second.watch(one);
    // A viewer that has left may still be registered, with an older picture.
    const newest = (viewer: typeof first) => expect.poll(() => viewer.picturesOf(one).at(-1));
    await Promise.all([newest(first).toBe('picture wall-1 a'), newest(second).toBe('picture wall-1 a')]);
    const before = host.messages('wall').filter(({ known }) => known === null).length;
    const third = await open();
    third.watch(one);
    await pictures(third, one).toEqual(['picture wall-1 a']);
    expect(host.messages('wall').filter(({ known }) => known === null)).toHaveLength(before);
    for (const watcher of [first, second, third]) watcher.close();
  });

  it('says why a phone has no picture, once, and shows it when there is one', async () => {
    shows.set('wall-3', undefined);
    const wall = await open();
    wall.watch(three, two);
    await pictures(wall, two).toHaveLength(1);
    await expect
      .poll(() => wall.received.filter(({ type }) => type === 'nothing'))
      .toEqual([{ type: 'nothing', device_id: three, reason: 'The screen is off.' }]);
    shows.set('wall-3', 'on');
    await pictures(wall, three).toEqual(['picture on']);
    wall.close();
  });

  it('leaves out pictures for who does not answer them, shows the newest later, and keeps nobody waiting', async () => {
    const [slow, other] = [await open(), await open()];
    const ids = [one, two, three];
    slow.answers = false;
    for (const watcher of [slow, other]) watcher.watch(...ids);
    const last = Math.floor(maxWallPicturesAhead / ids.length) + 1;
    for (let at = 1; at <= last; at += 1) {
      for (const serial of serials) shows.set(serial, `frame ${at}`);
      for (const id of ids) await pictures(other, id).toContain(`picture frame ${at}`);
    }
    const seen = (): string[] => ids.flatMap((id) => slow.picturesOf(id));
    const newest = (): string[] => seen().filter((picture) => picture === `picture frame ${last}`);
    expect(seen().length).toBeLessThanOrEqual(maxWallPicturesAhead);
    expect(newest().length).toBeLessThan(ids.length);
    slow.shown(ids.length);
    await expect.poll(newest, { timeout: 10_000 }).toHaveLength(ids.length);
    for (const watcher of [slow, other]) watcher.close();
  });

  it('tells of a phone that is not, or no longer, the viewer’s to see, and shows no picture of it', async () => {
    await share('PUT');
    const wall = await open(guest.token);
    wall.watch(one, two);
    await expect.poll(() => wall.received).toContainEqual({ type: 'gone', device_id: two });
    await pictures(wall, one).toHaveLength(1);
    await share('DELETE');
    shows.set('wall-1', 'secret');
    await expect.poll(() => wall.received).toContainEqual({ type: 'gone', device_id: one });
    const own = await open();
    own.watch(one);
    await pictures(own, one).toContain('picture secret');
    expect(wall.picturesOf(one)).toHaveLength(1);
    expect(wall.picturesOf(two)).toEqual([]);
    for (const watcher of [wall, own]) watcher.close();
  });

  it('ends with its token', async () => {
    const { secret, id } = await server.createToken({});
    const wall = await open(secret);
    wall.watch(one);
    await pictures(wall, one).toHaveLength(1);
    await server.api('DELETE', `/api/v2/tokens/${id}`);
    expect(await wall.ended).toBe(closeCodes.unauthorized);
  });

  it('watches the phones of a selector, and with a token that is limited to phones those alone', async () => {
    const chosen = await open(adminToken, `?selector=${encodeURIComponent('serial=wall-1|wall-3')}`);
    await pictures(chosen, one).toHaveLength(1);
    await pictures(chosen, three).toHaveLength(1);
    expect(chosen.picturesOf(two)).toEqual([]);
    const { secret } = await server.createToken({ selector: 'serial=wall-2' });
    const limited = await open(secret, `?selector=${encodeURIComponent('serial~wall')}`);
    await pictures(limited, two).toHaveLength(1);
    limited.watch(one);
    await expect.poll(() => limited.received).toContainEqual({ type: 'gone', device_id: one });
    expect(limited.picturesOf(one)).toEqual([]);
    for (const watcher of [chosen, limited]) watcher.close();
  });

  it('is refused without a WebSocket, and ends for who says something else or watches too many', async () => {
    const plain = await server.api('GET', '/api/v2/devices/live');
    expect([plain.status, plain.body['code']]).toEqual([426, 'upgrade_required']);
    await expect(open('phx_unknown')).rejects.toThrow('401');
    await expect(open(adminToken, '?selector=nonsense')).rejects.toThrow('400');
    const hostile = await open();
    hostile.send({ type: 'next' });
    expect(await hostile.ended).toBe(1008);
    const greedy = await open();
    for (let at = 0; at * 20 <= maxWallPhones; at += 1)
      greedy.watch(...Array.from({ length: 20 }, (_, index) => `${at}-${index}`));
    expect(await greedy.ended).toBe(1008);
  });

  it('ends the newest of the walls with which a user watches too many phones in all', async () => {
    const walls = await Promise.all(Array.from({ length: 11 }, () => open(guest.token)));
    const watch = (): void => {
      for (const [number, wall] of walls.entries())
        for (let at = 0; at < 10; at += 1)
          wall.watch(...Array.from({ length: 20 }, (_, index) => `${number}-${at}-${index}`));
    };
    watch();
    // Phones that do not exist are dropped in the turn that looks them up.
    const again = setInterval(watch, 300);
    expect(await Promise.race(walls.map(({ ended }) => ended))).toBe(1008);
    clearInterval(again);
    for (const wall of walls) wall.close();
  });
});
