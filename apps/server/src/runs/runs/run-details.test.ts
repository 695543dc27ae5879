import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { recordReport, screenReport, sendReport } from '../../testing/records/record-reports.ts';
import type { TestHost } from '../../testing/test-host.ts';
import { stringAt } from '../../testing/string-at.ts';
import { startBody, TestServer } from '../../testing/test-server.ts';

const launchPath = '/api/v2/devices/launchAutomation';
let server: TestServer;
let host: TestHost;
let deviceIds: string[];
let deviceId: string;

beforeAll(async () => {
  server = await TestServer.start();
  ({ host, deviceIds, deviceId } = await server.connectHost({ serials: ['one', 'two', 'three'] }));
});
afterAll(() => server.dispose());
// Reconnects, because a busy server may have given up the host.
beforeEach(async () => {
  await host.cut();
  await host.connect();
});

async function createProject(code = 'console.log(1)'): Promise<string> {
  const { body } = await server.api('POST', '/api/v2/automation-project', {
    body: { name: `Shop ${crypto.randomUUID()}` },
  });
  const projectId = stringAt(body['project'], 'id');
  await server.api('PUT', `/api/v2/automation/file/${projectId}`, {
    body: { path: 'main.js', content: code },
  });
  return projectId;
}

const launch = (projectId: string, ids: readonly string[], more: object = {}) =>
  server.api('POST', launchPath, {
    body: { device_ids: ids, automationId: projectId, command: 'start', ...more },
  });

it('is named by its device, to the one who launched it', async () => {
  const projectId = await createProject();
  const { body } = await launch(projectId, [deviceId]);
  const [row] = body['devices'] as { run_id: string }[];
  const { body: shown } = await server.api('GET', `/api/v2/devices/${deviceId}`);
  expect(shown['device']).toMatchObject({
    state: 'busy',
    reason: expect.stringMatching(/^Running Shop \S+$/),
  });
  await host.end(row?.run_id ?? '', 'completed');
});

describe('a run', () => {
  it('explains itself: who launched what with which parameters, its error with the stack, its result', async () => {
    const projectId = await createProject();
    const commit = await server.api('POST', `/api/v2/automation/commit/${projectId}`, {
      body: { message: 'first' },
    });
    const { secret } = await server.createToken({ name: 'nightly', scopes: ['launch', 'read'] });
    const parameters = { user: 'ada', nested: [1, { deep: null }], '': 0, 'two\nlines': true };
    const { body } = await server.api('POST', launchPath, {
      token: secret,
      body: {
        device_ids: [deviceId],
        automationId: projectId,
        command: 'start',
        automationParameters: parameters,
        jobVariables: { attempt: 2 },
      },
    });
    const [row] = body['devices'] as { run_id: string }[];
    const runId = row?.run_id ?? '';
    const error = { code: 'uncaught_error', message: 'Error: no', stack: 'Error: no\n    at main.ts:3:1' };
    await host.end(runId, 'failed', { error, result: '{"paid":[true,null]}' });
    const code = await server.api('GET', `/api/v2/runs/${runId}/code`);
    expect(code.body).toEqual({ success: true, code: null });
    const run = await server.run(runId);
    expect(run).toEqual({
      run_id: runId,
      automation_id: projectId,
      launch_id: null,
      device_id: deviceId,
      status: 'failed',
      outcome: 'failed',
      error,
      dirty: false,
      commit: stringAt(commit.body['commit'], 'hash'),
      tree: expect.stringMatching(/^[0-9a-f]{40}$/),
      name: expect.stringContaining('Shop '),
      launch: expect.any(String),
      project_name: expect.stringContaining('Shop '),
      created_at: expect.any(Number),
      started_at: expect.any(Number),
      ended_at: expect.any(Number),
      parameters: { automation_parameters: parameters, job_variables: { attempt: 2 } },
      launched_by: {
        user_id: expect.any(String),
        user_name: 'administrator',
        token_name: 'nightly',
        job: null,
      },
      result: { paid: [true, null] },
      records: [],
      last_screen: null,
      log_complete: true,
    });
    const { body: list } = await server.api('GET', `/api/v2/runs?automation_id=${projectId}&total=true`);
    expect(list).toMatchObject({
      runs: [
        { run_id: runId, launched_by: { user_name: 'administrator', token_name: 'nightly', job: null } },
      ],
      total: { runs: 1, or_more: false },
    });
    await server.restart();
    host.url = server.url;
    await host.connect();
    expect(await server.run(runId)).toEqual(run);
  });

  it('has an error and a stack of whatever characters: what no database stores is replaced', async () => {
    const { runId } = await server.startRun(host, deviceId);
    const text = 'nul \0, half a pair \ud800, a whole one \u{1f600}';
    host.report(runId, 'failed', { error: { code: 'uncaught_error', message: text, stack: text } });
    const stored = 'nul \ufffd, half a pair \ufffd, a whole one \u{1f600}';
    await expect.poll(() => server.run(runId)).toMatchObject({ error: { message: stored, stack: stored } });
  });

  it('that ended out of steps says so, while its status stays what it was', async () => {
    const ends = [
      ['completed', 'out_of_steps', 'out_of_steps'],
      ['completed', undefined, 'succeeded'],
      ['timed_out', undefined, 'timed_out'],
    ] as const;
    for (const [status, told, outcome] of ends) {
      const { runId } = await server.startRun(host, deviceId);
      expect(await server.run(runId)).toMatchObject({ outcome: null, result: null });
      await host.end(runId, status, told === undefined ? {} : { outcome: told });
      expect(await server.run(runId)).toMatchObject({ status, outcome });
    }
  });

  it('names its records and its last screen', async () => {
    const { runId } = await server.startRun(host, deviceId);
    const error = { code: 'uncaught_error', message: 'Error: no', stack: null };
    const first = recordReport(runId, { type: 'debug', tag: 'cart' });
    await sendReport(host, first);
    const screens = [screenReport({ screen_state: 'Login' }), screenReport({ screen_state: 'Cart' })];
    const second = recordReport(runId, { type: 'crash', screens, error });
    await sendReport(host, second);
    const run = await server.run(runId);
    expect(run).toMatchObject({
      records: [
        { record_id: second.record_id, type: 'crash' },
        { record_id: first.record_id, type: 'debug' },
      ],
      last_screen: { record_id: second.record_id, screen: { screenState: 'Cart' } },
    });
    const record = await server.api(
      'GET',
      `/api/v2/automation-project/out-of-steps?cursor=${second.record_id}`,
    );
    expect(record.body['result']).toMatchObject({ type: 'crash', error });
  });

  it('is found by its launch ID', async () => {
    const { runId, launchId } = await server.startRun(host, deviceId);
    await server.startRun(host, deviceId);
    const { body } = await server.api('GET', `/api/v2/runs?launch_id=${launchId}`);
    expect(body['runs']).toMatchObject([{ run_id: runId, launch_id: launchId }]);
    const nobody = await server.api('GET', `/api/v2/runs?launch_id=${crypto.randomUUID()}`);
    expect(nobody.body).toMatchObject({ runs: [], next_cursor: null });
  });

  it('is stopped by its ID, alone and by those who may', async () => {
    const { runId } = await server.startRun(host, deviceId);
    const kept = await server.startRun(host, deviceId);
    const stranger = await server.createCaller('stranger');
    const path = `/api/v2/runs/${runId}/stop`;
    expect((await stranger.api('POST', path)).body).toMatchObject({ code: 'run_not_found' });
    const row = { device_id: deviceId, code: null, reason: null, run_id: runId };
    const stopped = await server.api('POST', path);
    const devices = [{ ...row, outcome: 'stopped' }];
    expect(stopped.body).toEqual({ success: true, message: 'Stopped.', devices });
    const again = await server.api('POST', path);
    expect(again.body).toMatchObject({ success: true, devices: [{ ...row, outcome: 'nothing_to_stop' }] });
    expect(await server.run(kept.runId)).toMatchObject({ status: 'running' });
  });
});

describe('a launch of a project', () => {
  it('has a row for each device, also when some are not there, and then names which', async () => {
    const projectId = await createProject();
    const mixed = await launch(projectId, [deviceId, 'nobody', deviceId]);
    const refused = { outcome: 'refused', run_id: null };
    expect(mixed.body).toEqual({
      success: false,
      code: 'devices_unavailable',
      message: 'Some devices offline or not found: nobody (not found).',
      devices: [
        {
          device_id: deviceId,
          ...refused,
          code: 'devices_unavailable',
          reason: 'Other devices are not available.',
        },
        { device_id: 'nobody', ...refused, code: 'device_not_found', reason: 'nobody: not found' },
      ],
    });
    const started = await launch(projectId, deviceIds);
    const rows = deviceIds.map((device_id) => ({ device_id, outcome: 'started', code: null, reason: null }));
    expect(started.body['devices']).toMatchObject(rows);
    const busy = await launch(projectId, deviceIds);
    expect(busy.body['message']).toContain(`${deviceId} one`);
    expect(busy.body['devices']).toMatchObject(
      deviceIds.map((device_id) => ({ device_id, ...refused, code: 'already_running' })),
    );
    const stop = await launch(projectId, deviceIds, { command: 'stop' });
    expect(stop.body['devices']).toMatchObject(
      deviceIds.map((device_id) => ({ device_id, outcome: 'stopped', run_id: expect.any(String) })),
    );
  });

  it('that does not compile has a row for each device, too', async () => {
    const projectId = await createProject("import './missing.js'");
    const { body } = await launch(projectId, deviceIds);
    expect(body).toMatchObject({ code: 'compile_failed', errors: [expect.any(String)] });
    expect(body['devices']).toMatchObject(
      deviceIds.map((device_id) => ({ device_id, outcome: 'refused', code: 'compile_failed' })),
    );
  });

  it('of 10,000 unknown devices is refused in a message that people can read', async () => {
    const projectId = await createProject();
    const ids = Array.from({ length: 10_000 }, (_, index) => `device-${index}`);
    const { body } = await launch(projectId, ids);
    expect(stringAt(body, 'message').length).toBeLessThan(1000);
    expect(body['message']).toContain('device-19 (not found); and 9,980 more.');
    expect(body['devices']).toHaveLength(10_000);
  });
});

it('parameters that are too large to be kept are null', async () => {
  const launchId = crypto.randomUUID();
  const automationParameters = { text: 'x'.repeat(2 ** 20) };
  const body = startBody(deviceId, launchId, { automationParameters });
  const reply = await server.api('POST', '/api/v2/devices/launchDirectAutomation', body);
  const [row] = reply.body['devices'] as { run_id: string }[];
  expect(await server.run(row?.run_id ?? '')).toMatchObject({ parameters: null, launched_by: {} });
});
