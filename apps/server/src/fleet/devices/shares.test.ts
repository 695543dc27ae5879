import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import type { ApiReply } from '../../testing/api-caller.ts';
import { deviceReport } from '../../testing/host-wire.ts';
import { stringAt } from '../../testing/string-at.ts';
import { callers, SharedPhone, type Caller } from './testing/shared-phone.ts';

let phone: SharedPhone;
beforeAll(async () => {
  phone = await SharedPhone.start();
});
afterAll(() => phone.dispose());
beforeEach(() => phone.reset());

const device = (): string => `devices/${phone.deviceId}`;
const host = (): string => `hosts/${phone.host.hostId}`;

type Endpoint = readonly [
  does: string,
  /** Statuses in the order of `callers`. */
  statuses: readonly number[],
  ask: (caller: Caller) => Promise<ApiReply>,
];

const call =
  (method: 'GET' | 'DELETE', path: () => string) =>
  (caller: Caller): Promise<ApiReply> =>
    phone.api(caller)(method, `/api/v2/${path()}`);
const put =
  (path: () => string, role: string) =>
  (caller: Caller): Promise<ApiReply> =>
    phone.api(caller)('PUT', `/api/v2/${path()}`, { body: { role } });

const endpoints: readonly Endpoint[] = [
  ['reads the device', [200, 200, 200, 200, 404, 200], call('GET', device)],
  ['forgets the device', [409, 403, 403, 403, 404, 403], call('DELETE', device)],
  ['takes a screenshot', [200, 200, 200, 200, 404, 200], (caller) => phone.screenshot(caller)],
  ['looks at the screen', [200, 200, 200, 200, 404, 200], (caller) => phone.screen(caller)],
  ['reads its history', [200, 200, 200, 200, 404, 200], (caller) => phone.history(caller)],
  ['lists its apps', [200, 200, 200, 200, 404, 200], (caller) => phone.apps(caller)],
  ['touches the screen', [200, 200, 403, 200, 404, 403], (caller) => phone.touch(caller)],
  ['leases it', [200, 200, 403, 200, 404, 403], (caller) => phone.lease(caller)],
  ['gives it back', [200, 200, 403, 200, 404, 403], (caller) => phone.endLease(caller)],
  ['starts direct code', [200, 200, 400, 200, 400, 403], (caller) => phone.launchDirect(caller)],
  ['starts a project', [200, 200, 400, 200, 400, 200], (caller) => phone.launchProject(caller)],
  ['stops a project', [200, 200, 400, 200, 400, 200], (caller) => phone.launchProject(caller, 'stop')],
  ['stops everything', [200, 200, 400, 200, 400, 403], (caller) => phone.stopAll(caller)],
  ['reads logs', [200, 200, 200, 200, 404, 200], (caller) => phone.readLogs(caller, phone.project.id)],
  ['lists its members', [200, 200, 200, 200, 404, 200], call('GET', () => `${device()}/members`)],
  [
    'shares the device',
    [200, 403, 403, 403, 404, 403],
    put(() => `${device()}/members/${phone.idOf('launch')}`, 'launch'),
  ],
  [
    'ends a share of the device',
    [200, 200, 403, 403, 404, 403],
    call('DELETE', () => `${device()}/members/${phone.idOf('launch')}`),
  ],
  [
    'pairs a phone with the host',
    [201, 404, 404, 403, 404, 403],
    (caller) => phone.pair(caller, 'POST', 'pairings'),
  ],
  [
    'reads how far a pairing is',
    [200, 404, 404, 403, 404, 403],
    (caller) => phone.pair(caller, 'GET', 'pairings/phalanx-1'),
  ],
  ['lists the members of the host', [200, 404, 404, 200, 404, 200], call('GET', () => `${host()}/members`)],
  [
    'shares the host',
    [200, 404, 404, 403, 404, 403],
    put(() => `${host()}/members/${phone.idOf('launch by the host')}`, 'launch'),
  ],
  [
    'ends a share of the host',
    [200, 404, 404, 200, 404, 403],
    call('DELETE', () => `${host()}/members/${phone.idOf('launch by the host')}`),
  ],
];

describe('a phone that is shared', () => {
  it.each(endpoints)('answers each caller who %s', async (_does, statuses, ask) => {
    for (const [index, caller] of callers.entries()) {
      const reply = await ask(caller);
      expect(reply.status, `${caller}: ${reply.text}`).toBe(statuses[index]);
      // A refused request has changed nothing.
      if (reply.status < 300) await phone.reset();
    }
  });

  it('is listed for everybody who has a part in it, with their role and its owner', async () => {
    const rolesOf = async (caller: Caller) => {
      const { body } = await phone.api(caller)('GET', '/api/v2/devices');
      return (body['devices'] as { role: string; owner: unknown }[]).map(({ role, owner }) => [role, owner]);
    };
    const me = await phone.api('owner')('GET', '/api/v2/me');
    const owner = { id: phone.idOf('owner'), name: stringAt(me.body['user'], 'name') };
    const expected = { owner: 'owner', launch: 'launch', view: 'view', 'launch by the host': 'launch' };
    for (const [caller, role] of Object.entries(expected))
      expect(await rolesOf(caller as Caller)).toEqual([[role, owner]]);
    expect(await rolesOf('stranger')).toEqual([]);
  });

  it('by its host is shared with the phones that come later; hosts are listed with their phones and the role', async () => {
    const hostsOf = async (caller: Caller) => (await phone.api(caller)('GET', '/api/v2/hosts')).body['hosts'];
    phone.host.devices.push(deviceReport('later'));
    phone.host.send({ type: 'devices', devices: phone.host.devices });
    await phone.host.heartbeat();
    const { body } = await phone.api('launch by the host')('GET', '/api/v2/devices');
    expect(body['devices']).toHaveLength(2);
    const row = {
      id: phone.host.hostId,
      connected: true,
      since: expect.any(Number),
      devices: { total: 2, ready: 2 },
    };
    expect(await hostsOf('launch by the host')).toMatchObject([{ ...row, role: 'launch' }]);
    expect(await hostsOf('owner')).toMatchObject([{ ...row, role: 'owner' }]);
    expect(await hostsOf('launch')).toEqual([]);
  });

  it('gives the stronger of the two roles', async () => {
    await phone.share(host(), 'view', 'launch');
    expect((await phone.launchDirect('view')).status).toBe(200);
    const { body } = await call('GET', () => `${device()}/members`)('owner');
    expect(body['members']).toContainEqual({
      user_id: phone.idOf('view'),
      name: 'view',
      role: 'launch',
      through: 'host',
      accepted: true,
    });
    await phone.unshare(host(), 'view');
    expect((await phone.launchDirect('view')).status).toBe(400);
  });

  it.each([
    ['the owner', () => phone.idOf('owner'), 400, 'invalid_request'],
    ['an unknown user', () => crypto.randomUUID(), 404, 'user_not_found'],
  ] as const)('is not shared with %s', async (_who, userId, status, code) => {
    const reply = await put(() => `${device()}/members/${userId()}`, 'view')('owner');
    expect([reply.status, reply.body['code']]).toEqual([status, code]);
  });

  it('shows the present names of users, and is no longer shared with one who was deleted', async () => {
    const { userId } = await phone.server.createCaller('short-lived');
    const path = `/api/v2/users/${userId}`;
    await put(() => `${device()}/members/${userId}`, 'view')('owner');
    await phone.api('owner')('PATCH', path, { body: { name: 'renamed' } });
    const members = async () => (await call('GET', () => `${device()}/members`)('owner')).body['members'];
    expect(await members()).toContainEqual({
      user_id: userId,
      name: 'renamed',
      role: 'view',
      through: 'device',
      accepted: false,
    });
    await phone.api('owner')('DELETE', path);
    expect(await members()).toHaveLength(4);
  });

  it('has its members listed page by page, the owner first', async () => {
    const seen: unknown[] = [];
    for (let query = '?limit=1'; query !== '';) {
      const { body } = await phone.api('view')('GET', `/api/v2/${device()}/members${query}`);
      seen.push(...(body['members'] as unknown[]));
      query = body['next_cursor'] === null ? '' : `?limit=1&cursor=${stringAt(body, 'next_cursor')}`;
    }
    expect(seen).toMatchObject([
      { user_id: phone.idOf('owner'), role: 'owner' },
      ...(['launch', 'view', 'launch by the host'] as const)
        .map((caller) => ({
          user_id: phone.idOf(caller),
          name: caller,
          ...(caller === 'launch by the host'
            ? { role: 'launch', through: 'host' }
            : { role: caller, through: 'device' }),
        }))
        .sort((one, other) => (one.user_id < other.user_id ? -1 : 1)),
    ]);
  });
});
