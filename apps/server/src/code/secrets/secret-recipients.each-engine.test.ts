import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';

import { TestProject } from '../projects/testing/test-projects.ts';
import type { ApiCaller } from '../../testing/api-caller.ts';
import { type Caller, connectPhone, type ConnectedPhone } from '../../testing/connected-phone.ts';
import { stringAt } from '../../testing/string-at.ts';
import type { TestHost } from '../../testing/test-host.ts';
import { TestServer } from '../../testing/test-server.ts';

const polling = { timeout: 40_000, interval: 50 };
const secret = 'hunter2-of-alice';
const phone = { labels: { rack: '1' }, requestHabit: 'answer' } as const;

let server: TestServer;
let alice: Caller;
let bob: Caller;
let own: ConnectedPhone;
let bobs: ConnectedPhone;
let project: TestProject;

beforeAll(async () => {
  server = await TestServer.start({ ackTimeoutMs: 10_000, sweepMs: 50 });
  alice = await server.createCaller('alice');
  bob = await server.createCaller('bob');
  own = await connectPhone(server, alice, { serial: 'alices', ...phone });
  bobs = await connectPhone(server, bob, { serial: 'bobs', ...phone });
  await bob.api('PUT', `/api/v2/devices/${bobs.id}/members/${alice.userId}`, { body: { role: 'launch' } });
  await alice.api('POST', '/api/v2/shares/accept', { body: { kind: 'device', id: bobs.id } });
});
afterAll(async () => {
  await own.host.cut();
  await bobs.host.cut();
  await server.dispose();
});
beforeEach(async () => {
  for (const { host } of [own, bobs]) await endAll(host);
  for (const { host } of [own, bobs]) host.received.length = 0;
  project = await TestProject.create(alice.api);
  await project.put('main.ts', 'console.log(1);');
  await putSecret();
});

const putSecret = () =>
  alice.api('PUT', `/api/v2/automation-project/${project.id}/secrets/SHOP`, { body: { value: secret } });
const recipients = (user = bob): string =>
  `/api/v2/automation-project/${project.id}/secret-recipients/${user.userId}`;
const launch = (place: object, api: ApiCaller = alice.api) =>
  api('POST', '/api/v2/devices/launchAutomation', {
    body: { automationId: project.id, command: 'start', ...place },
  });
const runsOf = ({ host }: ConnectedPhone) => host.messages('launch').flatMap(({ runs }) => runs);
const endAll = async (host: TestHost): Promise<void> => {
  for (const [id, { status }] of host.runs) if (status === 'running') await host.end(id, 'stopped');
};

it('a project with secrets starts on no phone of a host whose owner is not listed', async () => {
  const { status, body } = await launch({ device_ids: [own.id, bobs.id] });
  expect([status, body['code']]).toEqual([400, 'secrets_withheld']);
  expect(body['message']).toContain(`${bobs.id} bobs (host of bob)`);
  expect(body['devices']).toMatchObject([
    { device_id: own.id, outcome: 'refused', code: 'devices_unavailable' },
    { device_id: bobs.id, outcome: 'refused', code: 'secrets_withheld' },
  ]);
  expect([...runsOf(own), ...runsOf(bobs)]).toEqual([]);
  expect((await launch({ selector: 'rack=1' })).status).toBe(200);
  expect([runsOf(own).length, runsOf(bobs).length]).toEqual([1, 0]);
  expect((await launch({ selector: 'serial=bobs' })).body['message']).toContain(
    'of 1 phone that fit, 1 is at hosts that get no secrets of the project',
  );
  expect(JSON.stringify(bobs.host.received)).not.toContain(secret);
});

it('once the project lists the owner of the host, it starts there with the secrets, and no more after that', async () => {
  const { status, body } = await alice.api('PUT', recipients());
  const row = { user_id: bob.userId, name: 'bob', added_at: expect.any(Number) };
  expect([status, body['recipient']]).toEqual([200, row]);
  const list = async () =>
    (await alice.api('GET', `/api/v2/automation-project/${project.id}/secret-recipients`)).body['recipients'];
  expect(await list()).toEqual([row]);
  expect((await launch({ device_ids: [bobs.id] })).status).toBe(200);
  expect(bobs.host.messages('launch')).toMatchObject([{ secrets: { SHOP: secret } }]);
  expect((await alice.api('DELETE', recipients())).status).toBe(200);
  expect((await alice.api('DELETE', recipients())).body['code']).toBe('secret_recipient_not_found');
  expect(await list()).toEqual([]);
  await endAll(bobs.host);
  expect((await launch({ device_ids: [bobs.id] })).body['code']).toBe('secrets_withheld');
});

it('editors get them, viewers do not; a project without secrets starts anywhere', async () => {
  const member = `/api/v2/automation-project/${project.id}/members/${bob.userId}`;
  await alice.api('PUT', member, { body: { role: 'shared_viewer' } });
  expect((await launch({ device_ids: [bobs.id] })).body['code']).toBe('secrets_withheld');
  await alice.api('PUT', member, { body: { role: 'shared_editor' } });
  expect((await launch({ device_ids: [bobs.id] })).status).toBe(200);
  await endAll(bobs.host);
  await alice.api('DELETE', member);
  expect((await launch({ device_ids: [bobs.id] })).body['code']).toBe('secrets_withheld');
  await alice.api('DELETE', `/api/v2/automation-project/${project.id}/secrets/SHOP`);
  expect((await launch({ device_ids: [bobs.id] })).status).toBe(200);
});

it('jobs leave such phones out, by selector and by ID, say so, and begin once they may', async () => {
  const read = async (id: string) => (await alice.api('GET', `/api/v2/jobs/${id}`)).body['job'];
  const make = async (place: object): Promise<string> => {
    const { body, text } = await alice.api('POST', '/api/v2/jobs', {
      body: { automation_id: project.id, ...place },
    });
    expect(body['job'], text).toBeDefined();
    return stringAt(body['job'], 'id');
  };
  const both = await make({ device_ids: [bobs.id, own.id], inputs: [{ n: 1 }, { n: 2 }] });
  const bySelector = await make({ selector: 'rack=1' });
  const onlyBobs = await make({ selector: 'serial=bobs' });
  for (const id of [both, bySelector])
    await expect
      .poll(async () => {
        await endAll(own.host);
        return read(id);
      }, polling)
      .toMatchObject({ ended_at: expect.any(Number) });
  expect(await read(onlyBobs)).toMatchObject({
    reason:
      'The job is waiting for a phone: of 1 phone that fit, 1 is at hosts that get no secrets of the project.',
  });
  expect([runsOf(own).length, runsOf(bobs).length]).toEqual([3, 0]);
  await alice.api('DELETE', `/api/v2/jobs/${both}`);
  await alice.api('DELETE', `/api/v2/automation-project/${project.id}/secrets/SHOP`);
  await alice.api('POST', `/api/v2/jobs/${onlyBobs}/cancel`);
});

it('an act types no secret on such a phone', async () => {
  const type = () =>
    alice.api('POST', `/api/v2/devices/${bobs.id}/act`, {
      body: { project_id: project.id, steps: [{ type: 'type', secret: 'SHOP' }] },
    });
  expect((await type()).body['code']).toBe('secrets_withheld');
  expect(bobs.host.messages('act')).toEqual([]);
  await alice.api('PUT', recipients());
  await type();
  expect(bobs.host.messages('act')).toMatchObject([{ steps: [{ text: secret }] }]);
});

it('the list is changed by the owner alone, and by no limited token', async () => {
  const member = `/api/v2/automation-project/${project.id}/members/${bob.userId}`;
  await alice.api('PUT', member, { body: { role: 'shared_editor' } });
  expect((await bob.api('PUT', recipients())).body['code']).toBe('forbidden');
  expect((await bob.api('DELETE', recipients())).body['code']).toBe('forbidden');
  const path = `/api/v2/automation-project/${project.id}/secret-recipients`;
  expect((await bob.api('GET', path)).status).toBe(200);
  const { api: stranger } = await server.createCaller('carol');
  expect((await stranger('PUT', recipients())).body['code']).toBe('project_not_found');
  const nobody = `${path}/${crypto.randomUUID()}`;
  expect((await alice.api('PUT', nobody)).body['code']).toBe('user_not_found');
});
