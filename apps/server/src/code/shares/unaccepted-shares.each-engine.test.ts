/** Mallory shares phones and projects with Alice without asking her. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { TestProject } from '../projects/testing/test-projects.ts';
import { type ApiCaller, createApiCaller } from '../../testing/api-caller.ts';
import { type Caller, connectPhone, type ConnectedPhone } from '../../testing/connected-phone.ts';
import { EventReader } from '../../testing/event-reader.ts';
import { stringAt } from '../../testing/string-at.ts';
import { TestServer } from '../../testing/test-server.ts';

const polling = { timeout: 40_000, interval: 50 };
const selector = 'country=de';
const labels = { country: 'de' };

let server: TestServer;
let alice: Caller;
let mallory: Caller;
let own: ConnectedPhone;
let theirs: ConnectedPhone;
let project: TestProject;
let foreign: TestProject;

beforeAll(async () => {
  server = await TestServer.start({
    ackTimeoutMs: 10_000,
    sweepMs: 50,
    settings: { PHALANX_WEBHOOK_NETWORKS: '127.0.0.2/32' },
  });
  alice = await server.createCaller('alice');
  mallory = await server.createCaller('mallory');
  own = await connectPhone(server, alice, { serial: 'alices', labels });
  theirs = await connectPhone(server, mallory, { serial: 'mallorys', labels });
  project = await TestProject.create(alice.api, 'shop');
  await project.put('main.ts', 'console.log(1);');
  foreign = await TestProject.create(mallory.api, 'trap');
  await foreign.put('main.ts', 'console.log(1);');
});
afterAll(async () => {
  await own.host.cut();
  await theirs.host.cut();
  await server.dispose();
});

const memberOf = (kind: 'devices' | 'hosts', id: string, userId = alice.userId): string =>
  `/api/v2/${kind}/${id}/members/${userId}`;
const memberOfProject = (id: string, userId = alice.userId): string =>
  `/api/v2/automation-project/${id}/members/${userId}`;
const share = (role = 'launch') => mallory.api('PUT', memberOf('devices', theirs.id), { body: { role } });
const accept = (kind: string, id: string, { api }: Caller = alice, more: object = {}) =>
  api('POST', '/api/v2/shares/accept', { body: { kind, id, ...more } });
const idsOf = async (query = ''): Promise<string[]> => {
  const { body } = await alice.api('GET', `/api/v2/devices${query}`);
  return (body['devices'] as unknown[]).map((one) => stringAt(one, 'device_id'));
};
const runsOf = ({ host }: ConnectedPhone) => host.messages('launch').flatMap(({ runs }) => runs);
const endAll = async ({ host }: ConnectedPhone): Promise<void> => {
  for (const [id, { status }] of host.runs) if (status === 'running') await host.end(id, 'stopped');
};
const launch = (api: ApiCaller, place: object, automationId = project.id) =>
  api('POST', '/api/v2/devices/launchAutomation', { body: { automationId, command: 'start', ...place } });

beforeEach(async () => {
  await mallory.api('DELETE', memberOf('devices', theirs.id));
  await mallory.api('DELETE', memberOf('hosts', theirs.host.hostId));
  await mallory.api('DELETE', memberOfProject(foreign.id));
  for (const phone of [own, theirs]) {
    await endAll(phone);
    phone.host.received.length = 0;
  }
  expect((await share()).status).toBe(200);
});

/** Ends runs until the job has ended. */
async function untilEnded(id: string): Promise<void> {
  const read = async (): Promise<unknown> => {
    for (const phone of [own, theirs]) await endAll(phone);
    const job = (await alice.api('GET', `/api/v2/jobs/${id}`)).body['job'] as { ended_at: number | null };
    return job.ended_at;
  };
  await expect.poll(read, polling).not.toBeNull();
}

async function makeJob(place: object): Promise<string> {
  const body = { automation_id: project.id, ...place };
  const { body: made, text } = await alice.api('POST', '/api/v2/jobs', { body });
  expect(made['job'], text).toBeDefined();
  return stringAt(made['job'], 'id');
}

describe('a phone that is shared with somebody who has not accepted it', () => {
  it('gets no launch by a selector, and is in no list by a selector and in no pool', async () => {
    expect((await launch(alice.api, { selector })).status).toBe(200);
    expect([runsOf(own).length, runsOf(theirs).length]).toEqual([1, 0]);
    expect(await idsOf(`?selector=${encodeURIComponent(selector)}`)).toEqual([own.id]);
    const { body } = await alice.api('PUT', '/api/v2/pools/german', { body: { selector } });
    expect(body).toMatchObject({ pool: { devices: { total: 1 } } });
    expect((await alice.api('GET', '/api/v2/pools')).body).toMatchObject({
      pools: [{ devices: { total: 1 } }],
    });
    const stats = (await alice.api('GET', '/api/v2/stats?by=device')).body['stats'] as { key: string }[];
    expect(stats.map(({ key }) => key)).not.toContain(theirs.id);
  });

  it('is theirs to use by its ID, and tells why nothing chooses it', async () => {
    const { body } = await alice.api('GET', '/api/v2/devices');
    expect(body['devices']).toMatchObject([
      { device_id: own.id, role: 'owner', accepted: true },
      { device_id: theirs.id, role: 'launch', accepted: false },
    ]);
    expect((await alice.api('GET', `/api/v2/devices/${theirs.id}`)).body).toMatchObject({
      device: { accepted: false },
    });
    expect((await launch(alice.api, { device_ids: [theirs.id] })).status).toBe(200);
    expect(runsOf(theirs)).toHaveLength(1);
  });

  it('gets no task of a job by a selector, and none of a schedule', async () => {
    const job = await makeJob({ selector, count: 3 });
    await untilEnded(job);
    expect([runsOf(own).length, runsOf(theirs).length]).toEqual([3, 0]);
    const body = { automation_id: project.id, selector, count: 2, cron: '* * * * *', time_zone: 'UTC' };
    const { body: made } = await alice.api('POST', '/api/v2/schedules', { body });
    const schedule = stringAt(made['schedule'], 'id');
    const { next } = made['schedule'] as { next: [number] };
    server.clock.advance(next[0] - server.clock.now() + 1);
    const turns = async () => (await alice.api('GET', `/api/v2/schedules/${schedule}/turns`)).body['turns'];
    await expect.poll(turns, polling).toMatchObject([{ job_id: expect.any(String) }]);
    const [turn] = (await turns()) as unknown[];
    await alice.api('DELETE', `/api/v2/schedules/${schedule}`);
    await untilEnded(stringAt(turn, 'job_id'));
    expect(runsOf(theirs)).toEqual([]);
  });

  it('is counted in the reason for which a job waits and a launch is refused', async () => {
    const only = 'serial=mallorys';
    const { status, body } = await launch(alice.api, { selector: only });
    expect([status, body['code']]).toEqual([400, 'too_few_devices']);
    const reason =
      'no phone fits; 1 more is shared with you, and chosen once you accept it (GET /api/v2/shares, "phalanx shares")';
    expect(body['message']).toContain(reason);
    const job = await makeJob({ selector: only });
    expect((await alice.api('GET', `/api/v2/jobs/${job}`)).body).toMatchObject({
      job: { reason: `The job is waiting for a phone: ${reason}.` },
    });
    expect((await accept('device', theirs.id)).status).toBe(200);
    await untilEnded(job);
    expect(runsOf(theirs)).toHaveLength(1);
  });

  it('is in no list and no event of what others do there, unless it is named or accepted', async () => {
    await mallory.api('PUT', memberOfProject(foreign.id), { body: { role: 'shared_editor' } });
    const events = await EventReader.open(`${server.url}/api/v2/events`, alice.token);
    const listed = async (): Promise<Record<string, number>> => {
      const named = `?automation_id=${foreign.id}`;
      const paths = {
        runs: '/api/v2/runs',
        'runs named': `/api/v2/runs${named}&device_id=${theirs.id}`,
        jobs: '/api/v2/jobs',
        'jobs named': `/api/v2/jobs${named}`,
        schedules: '/api/v2/schedules',
        'schedules named': `/api/v2/schedules${named}`,
      };
      const counts: Record<string, number> = {};
      for (const [name, path] of Object.entries(paths)) {
        const { body, text } = await alice.api('GET', path);
        const rows = body[name.split(' ')[0] ?? ''];
        expect(Array.isArray(rows), text).toBe(true);
        counts[name] = (rows as unknown[]).filter((row) => JSON.stringify(row).includes(foreign.id)).length;
      }
      return counts;
    };
    const place = { device_ids: [theirs.id] };
    const work = { automation_id: foreign.id, ...place };
    expect((await mallory.api('POST', '/api/v2/jobs', { body: work })).status).toBe(201);
    const cron = { cron: '0 0 1 1 *', time_zone: 'UTC' };
    expect((await mallory.api('POST', '/api/v2/schedules', { body: { ...work, ...cron } })).status).toBe(201);
    await expect.poll(() => runsOf(theirs).length, polling).toBeGreaterThan(0);
    await endAll(theirs);
    const before = await listed();
    expect(before).toMatchObject({ runs: 0, jobs: 0, schedules: 0, 'jobs named': 1, 'schedules named': 1 });
    expect(before['runs named']).toBeGreaterThan(0);
    await accept('device', theirs.id);
    await accept('project', foreign.id);
    expect(events.received.filter(({ data }) => JSON.stringify(data).includes(theirs.id))).toEqual([]);
    const after = await listed();
    expect(after).toMatchObject({ jobs: 1, schedules: 1 });
    expect(after['runs']).toBe(before['runs named']);
    expect((await launch(mallory.api, place, foreign.id)).status).toBe(200);
    await expect.poll(() => events.received.map(({ event }) => event), polling).toContain('run');
    events.close();
    await endAll(theirs);
  });

  it('tells no webhook of itself, and none of what its owner runs on it', async () => {
    await mallory.api('PUT', memberOfProject(foreign.id), { body: { role: 'shared_editor' } });
    const events = ['run.ended', 'device.not_ready'];
    const made = await alice.api('POST', '/api/v2/webhooks', {
      body: { url: 'http://127.0.0.2:9/x', events },
    });
    const id = stringAt(made.body['webhook'], 'id');
    const runForeign = async (): Promise<void> => {
      expect((await launch(mallory.api, { device_ids: [theirs.id] }, foreign.id)).status).toBe(200);
      await endAll(theirs);
    };
    const told = async (): Promise<unknown[]> =>
      (await alice.api('GET', `/api/v2/webhooks/${id}/deliveries`)).body['deliveries'] as unknown[];
    const countRuns = async (): Promise<number> => {
      const { total } = (await alice.api('GET', '/api/v2/stats')).body as { total: { runs: number } };
      return total.runs;
    };
    const before = await countRuns();
    await runForeign();
    await accept('device', theirs.id);
    await runForeign();
    expect(await countRuns()).toBe(before);
    await accept('project', foreign.id);
    await runForeign();
    // Waits for the last event. Events are sent in order, so earlier ones would have arrived.
    await expect.poll(told, polling).toHaveLength(1);
    expect(await countRuns()).toBeGreaterThan(before);
    await alice.api('DELETE', `/api/v2/webhooks/${id}`);
  });
});

describe('a share', () => {
  const list = async (query = '') => (await alice.api('GET', `/api/v2/shares${query}`)).body['shares'];
  const isChosen = async (): Promise<boolean> =>
    (await idsOf(`?selector=${encodeURIComponent(selector)}`)).includes(theirs.id);

  it('is listed with its owner until it is accepted, and then as accepted; page by page', async () => {
    await mallory.api('PUT', memberOf('hosts', theirs.host.hostId), { body: { role: 'view' } });
    await mallory.api('PUT', memberOfProject(foreign.id), { body: { role: 'shared_viewer' } });
    const owner = { id: mallory.userId, name: 'mallory' };
    const row = { owner, shared_at: expect.any(Number), accepted_at: null };
    const all = [
      { ...row, kind: 'device', id: theirs.id, name: 'mallorys', role: 'launch' },
      { ...row, kind: 'host', id: theirs.host.hostId, name: 'test host', role: 'view' },
      { ...row, kind: 'project', id: foreign.id, name: 'trap', role: 'shared_viewer' },
    ];
    expect(await list()).toEqual(all);
    const read: unknown[] = [];
    for (let query = '?limit=2'; query !== '';) {
      const { body } = await alice.api('GET', `/api/v2/shares${query}`);
      read.push(...(body['shares'] as unknown[]));
      const next = body['next_cursor'];
      query = typeof next === 'string' ? `?limit=2&cursor=${encodeURIComponent(next)}` : '';
    }
    expect(read).toEqual(all);
    const { status, body } = await accept('project', foreign.id);
    expect([status, body['share']]).toEqual([200, { ...all[2], accepted_at: expect.any(Number) }]);
    expect(await list('?state=accepted')).toEqual([body['share']]);
    expect(await list('?state=waiting')).toEqual(all.slice(0, 2));
    expect((await accept('project', foreign.id)).body['share']).toEqual(body['share']);
    expect((await mallory.api('GET', '/api/v2/shares')).body['shares']).toEqual([]);
  });

  it('tells its owner whether it was accepted', async () => {
    await mallory.api('PUT', memberOfProject(foreign.id), { body: { role: 'shared_editor' } });
    const places = [
      `/api/v2/devices/${theirs.id}/members`,
      `/api/v2/automation-project/${foreign.id}/members`,
    ];
    const read = async () =>
      Promise.all(
        places.map(async (place) => {
          const members = (await mallory.api('GET', place)).body['members'] as { accepted: boolean }[];
          return members.map(({ accepted }) => accepted);
        }),
      );
    expect(await read()).toEqual([
      [true, false],
      [true, false],
    ]);
    await accept('device', theirs.id);
    await accept('project', foreign.id);
    expect(await read()).toEqual([
      [true, true],
      [true, true],
    ]);
  });

  it('is not accepted with another role than the one that was seen', async () => {
    await share('view');
    await share('launch');
    const late = await accept('device', theirs.id, alice, { role: 'view' });
    expect([late.status, late.body['code']]).toEqual([409, 'share_changed']);
    expect(late.body['message']).toContain('launch');
    expect(await isChosen()).toBe(false);
    expect((await accept('device', theirs.id, alice, { role: 'launch' })).status).toBe(200);
    expect(await isChosen()).toBe(true);
    await mallory.api('PUT', memberOfProject(foreign.id), { body: { role: 'shared_editor' } });
    const other = await accept('project', foreign.id, alice, { role: 'shared_viewer' });
    expect([other.status, other.body['code']]).toEqual([409, 'share_changed']);
    expect((await accept('project', foreign.id, alice, { role: 'shared_editor' })).status).toBe(200);
    const none = await accept('device', own.id, alice, { role: 'launch' });
    expect(none.body['code']).toBe('share_not_found');
  });

  it('waits again when it gets a stronger role, or was taken away, and stays accepted with a weaker one', async () => {
    await share('view');
    await accept('device', theirs.id);
    await share('launch');
    expect(await isChosen()).toBe(false);
    expect((await launch(alice.api, { selector, count: 2 })).body['code']).toBe('too_few_devices');
    await accept('device', theirs.id);
    await share('launch');
    await share('view');
    expect(await isChosen()).toBe(true);
    const roleOf = async (role: string): Promise<unknown> => {
      await mallory.api('PUT', memberOfProject(foreign.id), { body: { role } });
      return list('?state=accepted');
    };
    const kinds = async (role: string): Promise<unknown[]> =>
      ((await roleOf(role)) as { kind: string }[]).map(({ kind }) => kind);
    await kinds('shared_viewer');
    await accept('project', foreign.id);
    expect(await kinds('shared_viewer')).toEqual(['device', 'project']);
    expect(await kinds('shared_editor')).toEqual(['device']);
    await accept('project', foreign.id);
    expect(await kinds('shared_viewer')).toEqual(['device', 'project']);
    await mallory.api('DELETE', memberOf('devices', theirs.id));
    await share();
    expect(await isChosen()).toBe(false);
  });

  it('of a host is accepted for all its phones; a stronger role of the phone waits for itself', async () => {
    await mallory.api('PUT', memberOf('hosts', theirs.host.hostId), { body: { role: 'view' } });
    expect((await accept('host', theirs.host.hostId)).status).toBe(200);
    expect(await isChosen()).toBe(true);
    expect((await launch(alice.api, { selector, count: 2 })).body['code']).toBe('too_few_devices');
    await mallory.api('PUT', memberOf('hosts', theirs.host.hostId), { body: { role: 'launch' } });
    expect((await accept('host', theirs.host.hostId)).status).toBe(200);
    expect((await launch(alice.api, { selector, count: 2 })).status).toBe(200);
  });

  it('of a host with the ID of one’s own host is accepted and refused as that of its owner', async () => {
    const same = await server.connectHost(
      { token: mallory.token, serials: ['same'], hostId: own.host.hostId },
      mallory.api,
    );
    const path = memberOf('hosts', own.host.hostId);
    await mallory.api('PUT', path, { body: { role: 'launch' } });
    const bob = await server.createCaller('bob');
    await alice.api('PUT', memberOf('hosts', own.host.hostId, bob.userId), { body: { role: 'view' } });
    await mallory.api('PUT', memberOf('hosts', own.host.hostId, bob.userId), { body: { role: 'view' } });
    const asked = await accept('host', own.host.hostId, bob);
    expect([asked.status, asked.body['code']]).toEqual([400, 'invalid_request']);
    const more = { owner_id: mallory.userId };
    expect((await accept('host', own.host.hostId, bob, more)).status).toBe(200);
    const bobs = memberOf('hosts', own.host.hostId, bob.userId);
    expect((await bob.api('DELETE', bobs)).body['code']).toBe('invalid_request');
    expect((await bob.api('DELETE', `${bobs}?owner_id=${mallory.userId}`)).status).toBe(200);
    expect((await accept('host', own.host.hostId)).status).toBe(200);
    expect((await alice.api('DELETE', path)).status).toBe(200);
    expect(JSON.stringify(await list())).not.toContain(own.host.hostId);
    await alice.api('DELETE', bobs);
    await same.host.cut();
  });

  it('is refused by its receiver, of every kind', async () => {
    await mallory.api('PUT', memberOf('hosts', theirs.host.hostId), { body: { role: 'launch' } });
    await mallory.api('PUT', memberOfProject(foreign.id), { body: { role: 'shared_editor' } });
    const places = [
      memberOf('devices', theirs.id),
      memberOf('hosts', theirs.host.hostId),
      memberOfProject(foreign.id),
    ];
    for (const place of places) expect((await alice.api('DELETE', place)).status, place).toBe(200);
    expect(await list()).toEqual([]);
    expect((await alice.api('GET', `/api/v2/devices/${theirs.id}`)).status).toBe(404);
  });

  it('is accepted by nobody else, and by no limited token', async () => {
    expect((await accept('device', theirs.id, mallory)).body['code']).toBe('share_not_found');
    expect((await accept('device', own.id)).body['code']).toBe('share_not_found');
    expect((await accept('project', foreign.id)).body['code']).toBe('share_not_found');
    for (const limit of [{ project_ids: [project.id] }, { selector }]) {
      const { secret } = await server.createToken({
        user_id: alice.userId,
        scopes: ['read', 'launch', 'edit'],
        ...limit,
      });
      const limited = createApiCaller(server.url, secret);
      const body = { kind: 'device', id: theirs.id };
      expect((await limited('POST', '/api/v2/shares/accept', { body })).body['code']).toBe('forbidden');
    }
    expect(await list('?state=accepted')).toEqual([]);
  });
});
