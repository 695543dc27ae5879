import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Run } from '@phalanx/protocol';

import { TestHost } from '../../testing/test-host.ts';
import { stringAt } from '../../testing/string-at.ts';
import { startBody, TestServer } from '../../testing/test-server.ts';

const hostId = crypto.randomUUID();
let server: TestServer;
let host: TestHost;
let deviceId: string;

beforeAll(async () => {
  server = await TestServer.start({ sweepMs: 20, ackTimeoutMs: 500 });
});
afterAll(() => server.dispose());
beforeEach(async () => {
  // The same host connects before each test, so that runs left over from an earlier test end.
  ({ host, deviceId } = await server.connectHost({ hostId }));
});
afterEach(() => host.cut());

async function listRuns(query: string, api = server.api): Promise<{ runs: Run[]; next: string | null }> {
  const { body, text, status } = await api('GET', `/api/v2/runs?${query}`);
  expect(status, text).toBe(200);
  return { runs: body['runs'] as Run[], next: body['next_cursor'] as string | null };
}

/** Waits until the sweep or a report has set the status of the run. */
async function statusBecomes(runId: string, status: Run['status']): Promise<Run> {
  await expect.poll(async () => (await server.run(runId)).status).toBe(status);
  return server.run(runId);
}

/** Cuts the host's connection, and waits until the service has noticed. */
async function cutNoticed(): Promise<void> {
  await host.cut();
  for (let state = ''; state !== 'offline';) {
    const { body } = await server.api('GET', `/api/v2/devices/${deviceId}`);
    state = stringAt(body['device'], 'state');
  }
}

async function reopen(): Promise<void> {
  await server.restart();
  host.url = server.url;
}

describe('a run that its host has loaded', () => {
  const loaded = (runId: string): void =>
    host.report(runId, 'starting', { is_loaded: true, started_at: null });
  const begun = (): string[] =>
    host.messages('begin').flatMap(({ runs }) => runs.map(({ run_id }) => run_id));

  /** Launches on a silent host. */
  async function launchSilently(): Promise<{ reply: ReturnType<TestServer['start']>; runId: string }> {
    host.launchHabit = 'silent';
    const sent = host.waitFor('launch');
    const reply = server.start(deviceId);
    return { reply, runId: (await sent).runs[0]?.run_id ?? '' };
  }

  it('begins when its row says that it runs, and is told so again on the next connection', async () => {
    const { reply, runId } = await launchSilently();
    loaded(runId);
    expect((await reply).status).toBe(200);
    await expect.poll(begun).toEqual([runId]);
    const { started_at: startedAt } = await server.run(runId);
    await host.cut();
    await host.connect();
    await expect.poll(begun).toEqual([runId, runId]);
    expect(host.messages('begin').at(-1)?.runs).toEqual([{ run_id: runId, started_at: startedAt }]);
    await host.end(runId, 'completed');
  });

  it('never begins when its launch was answered as refused, whichever connection it is told on', async () => {
    const { reply, runId } = await launchSilently();
    host.stopHabit = 'silent';
    expect((await reply).body['code']).toBe('launch_not_acknowledged');
    loaded(runId);
    await expect.poll(() => host.messages('stop').flatMap(({ run_ids }) => run_ids)).toContain(runId);
    await host.cut();
    await host.connect();
    host.stopHabit = 'confirm';
    host.launchHabit = 'ack';
    await server.startRun(host, deviceId);
    expect(begun()).toEqual([]);
    expect(await server.run(runId)).toMatchObject({ started_at: null });
    await host.end(runId, 'stopped', { started_at: null });
    expect(await server.run(runId)).toMatchObject({ status: 'stopped', started_at: null });
  });
});

describe('a host that comes back', () => {
  it('with its run finds it running', async () => {
    const { runId } = await server.startRun(host, deviceId);
    await host.cut();
    await host.connect();
    expect(await server.run(runId)).toMatchObject({ status: 'running', error: null });
  });

  it('with a run that has ended meanwhile has its end stored before it is told to forget it', async () => {
    const { runId } = await server.startRun(host, deviceId);
    await host.cut();
    host.report(runId, 'failed', { error: { code: 'uncaught', message: 'boom' } });
    const stored = host.waitFor('runs_stored', ({ run_ids: ids }) => ids.includes(runId));
    await host.connect();
    await stored;
    expect(await server.run(runId)).toMatchObject({
      status: 'failed',
      error: { code: 'uncaught', message: 'boom' },
    });
  });

  it('without its run has lost it', async () => {
    const { runId } = await server.startRun(host, deviceId);
    await host.cut();
    host.runs.clear();
    await host.connect();
    expect(await server.run(runId)).toMatchObject({ status: 'lost', error: { code: 'lost' } });
    const { body } = await server.api('GET', `/api/v2/devices/${deviceId}`);
    expect(body['device']).toMatchObject({ state: 'ready', running: [] });
  });

  it('after a restart of the service finds its run running, and can end it', async () => {
    const { runId, launchId } = await server.startRun(host, deviceId);
    await reopen();
    expect(await server.run(runId)).toMatchObject({ status: 'running' });
    await host.connect();
    expect((await server.stop(deviceId, launchId)).body).toMatchObject({ message: 'Stopped.' });
    expect(await server.run(runId)).toMatchObject({ status: 'stopped' });
  });

  it('after a restart of the service without its run has lost it', async () => {
    const { runId } = await server.startRun(host, deviceId);
    await reopen();
    host.runs.clear();
    await host.connect();
    expect(await server.run(runId)).toMatchObject({ status: 'lost' });
  });

  it('with a run that the service does not know is told to stop it', async () => {
    const unknown = crypto.randomUUID();
    const stop = host.waitFor('stop');
    host.report(unknown, 'running');
    expect((await stop).run_ids).toEqual([unknown]);
  });
});

describe('a host that stays away', () => {
  it('loses its runs after the time limit, and gets them back when it returns', async () => {
    const { runId } = await server.startRun(host, deviceId);
    await cutNoticed();
    server.clock.advance(119_000);
    expect(await server.run(runId)).toMatchObject({ status: 'running' });
    server.clock.advance(2_000);
    const lost = await statusBecomes(runId, 'lost');
    expect(lost).toMatchObject({ error: { code: 'lost' }, ended_at: expect.any(Number) });
    await host.connect();
    expect(await server.run(runId)).toMatchObject({ status: 'running', error: null, ended_at: null });
    host.report(runId, 'completed');
    await statusBecomes(runId, 'completed');
  });

  it('since before a restart of the service loses its runs too', async () => {
    const { runId } = await server.startRun(host, deviceId);
    await reopen();
    server.clock.advance(121_000);
    expect(await statusBecomes(runId, 'lost')).toMatchObject({ error: { code: 'lost' } });
  });
});

describe('a report', () => {
  it('of a foreign host changes nothing', async () => {
    const { runId } = await server.startRun(host, deviceId);
    const other = await server.createCaller('other');
    const sameHost = await TestHost.connected({ url: server.url, token: other.token, hostId: host.hostId });
    const sameUser = await server.connectHost({ serials: ['serial-9'] });
    for (const intruder of [sameHost, sameUser.host]) {
      intruder.report(runId, 'completed');
      await intruder.heartbeat();
      expect(await server.run(runId)).toMatchObject({ status: 'running' });
      await intruder.cut();
      await intruder.connect();
      expect(await server.run(runId)).toMatchObject({ status: 'running' });
      await intruder.cut();
    }
  });

  it('of an end says whether the whole log is stored, and another one when it is', async () => {
    const { runId } = await server.startRun(host, deviceId);
    expect(await server.run(runId)).toMatchObject({ ended_at: null, log_complete: false });
    await host.end(runId, 'completed', { log_left: true });
    expect(await server.run(runId)).toMatchObject({ status: 'completed', log_complete: false });
    await host.end(runId, 'completed');
    expect(await server.run(runId)).toMatchObject({ status: 'completed', log_complete: true });
    // Report that was still in flight.
    await host.end(runId, 'completed', { log_left: true });
    expect(await server.run(runId)).toMatchObject({ status: 'completed', log_complete: true });

    const { runId: lost } = await server.startRun(host, deviceId);
    await cutNoticed();
    server.clock.advance(10 * 60_000);
    await statusBecomes(lost, 'lost');
    expect(await server.run(lost)).toMatchObject({ log_complete: false });
    await host.connect();
    await host.end(lost, 'completed');
    expect(await server.run(lost)).toMatchObject({ status: 'completed', log_complete: true });
  });

  it('that comes twice is answered twice and stored once', async () => {
    const { runId } = await server.startRun(host, deviceId);
    const ended_at = server.clock.now();
    await host.end(runId, 'completed', { started_at: ended_at, ended_at });
    host.report(runId, 'failed', { ended_at: ended_at + 1, error: { code: 'x', message: 'later' } });
    const answers = () => host.messages('runs_stored').filter(({ run_ids: ids }) => ids.includes(runId));
    await expect.poll(answers).toHaveLength(2);
    expect(await server.run(runId)).toMatchObject({ status: 'completed', ended_at, error: null });
  });

  it('with times that cannot be has the nearest that can', async () => {
    const farAhead = [8.64e15, server.clock.now() + 10 * 60_000];
    const told = [...farAhead.map((time) => [time, time]), [0, 1], [server.clock.now(), 0]] as const;
    for (const [started_at, ended_at] of told) {
      const launchedAt = server.clock.now();
      const { runId } = await server.startRun(host, deviceId);
      await host.end(runId, 'completed', { started_at, ended_at });
      const { created_at, ...run } = await server.run(runId);
      const times = [launchedAt, created_at, run['started_at'], run['ended_at'], server.clock.now()];
      expect(times, `${started_at} and ${ended_at}`).toEqual(
        times.toSorted((one, other) => Number(one) - Number(other)),
      );
    }
  });

  it.each([
    ['the end before the start', ['completed', 'running']],
    ['two ends', ['completed', 'failed']],
    ['the start twice and the end', ['running', 'running', 'completed']],
  ] as const)('that holds %s of one run ends it once and for ever', async (_name, statuses) => {
    const { runId } = await server.startRun(host, deviceId);
    const at = Date.now();
    const runs = statuses.map((status) => ({
      run_id: runId,
      status,
      error: null,
      started_at: at,
      ended_at: at,
    }));
    host.send({ type: 'runs', runs });
    await statusBecomes(runId, 'completed');
    await reopen();
    await host.connect();
    expect(await server.run(runId)).toMatchObject({ status: 'completed' });
  });

  it('that goes back from running to starting changes nothing', async () => {
    const { runId } = await server.startRun(host, deviceId);
    host.report(runId, 'starting', { started_at: null });
    await host.heartbeat();
    expect(await server.run(runId)).toMatchObject({ status: 'running', started_at: expect.any(Number) });
  });

  it('of a hundred thousand unknown runs is answered step by step', async () => {
    const runs = Array.from({ length: 100_000 }, () => ({
      run_id: crypto.randomUUID(),
      status: 'completed',
      error: null,
      started_at: 1,
      ended_at: 2,
    }));
    const answered = () =>
      host.messages('runs_stored').reduce((sum, message) => sum + message.run_ids.length, 0);
    const before = answered();
    // Sends the reports in parts, like a real host, because of the size limit of text frames.
    for (let at = 0; at < runs.length; at += 5000)
      host.send({ type: 'runs', runs: runs.slice(at, at + 5000) });
    await host.heartbeat();
    await expect.poll(() => answered() - before).toBe(100_000);
    expect(host.messages('runs_stored').length).toBeGreaterThanOrEqual(100);
  });
});

describe('the list of runs', () => {
  it('gives each of 100 runs once, newest first, while new ones come', async () => {
    host.launchHabit = 'ends_at_once';
    const caller = await server.createCaller('lister');
    const theirs = await server.connectHost({ token: caller.token, launchHabit: 'ends_at_once' }, caller.api);
    const start = () =>
      caller.api('POST', '/api/v2/devices/launchDirectAutomation', startBody(theirs.deviceId));
    for (let at = 0; at < 100; at += 25) await Promise.all(Array.from({ length: 25 }, start));
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = await listRuns(cursor === '' ? 'limit=40' : `limit=40&cursor=${cursor}`, caller.api);
      seen.push(...page.runs.map((run) => run.run_id));
      cursor = page.next;
      await start();
    }
    expect(seen).toHaveLength(100);
    expect(seen).toEqual([...new Set(seen)].sort().toReversed());
    await theirs.host.cut();
  });

  it('filters by device, automation and status, and shows every field', async () => {
    const second = await server.connectHost({ serials: ['serial-2'] });
    const { runId, launchId } = await server.startRun(second.host, second.deviceId);
    for (const query of [
      `device_id=${second.deviceId}`,
      `automation_id=${launchId}`,
      `automation_id=${launchId}&status=running`,
    ]) {
      const { runs, next } = await listRuns(query);
      expect(next).toBeNull();
      expect(runs).toEqual([
        {
          run_id: runId,
          automation_id: launchId,
          launch_id: launchId,
          name: null,
          launch: expect.any(String),
          device_id: second.deviceId,
          status: 'running',
          outcome: null,
          error: null,
          commit: null,
          dirty: null,
          created_at: expect.any(Number),
          started_at: expect.any(Number),
          ended_at: null,
          launched_by: {
            user_id: expect.any(String),
            user_name: 'administrator',
            token_name: expect.any(String),
            job: null,
          },
        },
      ]);
    }
    expect((await listRuns(`automation_id=${launchId}&status=failed`)).runs).toEqual([]);
    await second.host.cut();
  });

  it('is empty for another user, who finds none of its runs by ID either', async () => {
    const { runId } = await server.startRun(host, deviceId);
    const other = await server.createCaller('stranger');
    expect((await listRuns('', other.api)).runs).toEqual([]);
    expect((await other.api('GET', `/api/v2/runs/${runId}`)).body).toMatchObject({ code: 'run_not_found' });
  });

  it('shows a token that is limited to projects the runs of these alone', async () => {
    const projectId = await server.createProject();
    const { runId } = await server.startRun(host, deviceId, projectId);
    const { secret } = await server.createToken({ project_ids: [projectId] });
    const { secret: stranger } = await server.createToken({ project_ids: [await server.createProject()] });
    const idsFor = async (token: string) =>
      ((await server.api('GET', '/api/v2/runs', { token })).body['runs'] as Run[]).map((run) => run.run_id);
    expect(await idsFor(secret)).toEqual([runId]);
    expect(await idsFor(stranger)).toEqual([]);
    expect((await server.api('GET', `/api/v2/runs/${runId}`, { token: stranger })).status).toBe(404);
  });
});
