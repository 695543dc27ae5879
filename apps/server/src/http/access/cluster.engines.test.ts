import { afterEach, describe, expect, it } from 'vitest';

import { hourMs } from '@phalanx/timing/durations';
import { adminToken, type TestServer } from '../../testing/test-server.ts';
import { canBeSeveral, startServers } from '../../testing/test-servers.ts';

const sessionPath = '/api/v2/session';

describe.skipIf(!canBeSeveral)('a browser that is signed in at several servers', () => {
  let servers: TestServer[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.close();
  });

  /** Its cookie, as one of the server at this address. */
  const cookieAt = (url: string, cookie: string): string =>
    cookie.replace(/phalanx-\d+/, `phalanx-${new URL(url).port}`);

  async function signIn(url: string): Promise<string> {
    const reply = await fetch(`${url}${sessionPath}`, {
      method: 'POST',
      headers: { origin: url, 'content-type': 'application/json' },
      body: JSON.stringify({ token: adminToken }),
    });
    expect(reply.status).toBe(201);
    return reply.headers.get('set-cookie')?.split(';')[0] ?? '';
  }

  const listDevices = async (url: string, cookie: string): Promise<number> =>
    (await fetch(`${url}/api/v2/devices`, { headers: { cookie: cookieAt(url, cookie) } })).status;

  it('is signed out at all of them when it is at one', async () => {
    servers = await startServers(2);
    const [one = '', other = ''] = servers.map(({ url }) => url);
    const cookie = await signIn(one);
    expect([await listDevices(one, cookie), await listDevices(other, cookie)]).toEqual([200, 200]);
    const headers = { origin: one, cookie };
    expect((await fetch(`${one}${sessionPath}`, { method: 'DELETE', headers })).status).toBe(200);
    expect([await listDevices(one, cookie), await listDevices(other, cookie)]).toEqual([401, 401]);
  });

  it('stays signed in at one where it has not been for twelve hours, when it was used at another', async () => {
    servers = await startServers(2);
    const [one = '', other = ''] = servers.map(({ url }) => url);
    const cookie = await signIn(one);
    expect(await listDevices(other, cookie)).toBe(200);
    for (let hours = 0; hours < 13; hours += 1) {
      for (const { clock } of servers) clock.advance(hourMs);
      expect(await listDevices(one, cookie)).toBe(200);
    }
    expect(await listDevices(other, cookie)).toBe(200);
  });
});
