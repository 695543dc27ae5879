import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { launchRoutes } from '@phalanx/protocol';

import type { ApiReply } from '../../testing/api-caller.ts';
import { isOneServer } from '../../testing/engines/test-database.ts';
import { deviceReport } from '../../testing/host-wire.ts';
import type { TestHost } from '../../testing/test-host.ts';
import { adminToken, startBody, TestServer } from '../../testing/test-server.ts';

const ackTimeoutMs = 1000;
const launchPath = launchRoutes.launchDirect.path;
const stopAllPath = launchRoutes.stopAll.path;

let server: TestServer;
let host: TestHost;
let deviceId: string;
let otherDeviceId: string;

beforeAll(async () => {
  server = await TestServer.start({ ackTimeoutMs });
});
afterAll(() => server.dispose());
beforeEach(async () => {
  const connected = await server.connectHost({ serials: ['serial-1', 'serial-2'] });
  host = connected.host;
  [deviceId = '', otherDeviceId = ''] = connected.deviceIds;
});
afterEach(async () => {
  await server.api('POST', stopAllPath, { body: { device_id: deviceId } });
  await host.cut();
});

const launchesOf = (launchId: string) =>
  host.messages('launch').filter((message) => message.automation_id === launchId);
const stopAll = (id: string): Promise<ApiReply> =>
  server.api('POST', stopAllPath, { body: { device_id: id } });

describe('a start', () => {
  it('is answered when the host has acknowledged it, with a row for the device', async () => {
    const reply = await server.start(deviceId);
    expect(reply.status).toBe(200);
    const run_id = host.messages('launch').at(-1)?.runs[0]?.run_id;
    const row = { device_id: deviceId, outcome: 'started', code: null, reason: null, run_id };
    expect(reply.body).toEqual({ success: true, message: 'Started on 1 device.', devices: [row] });
  });

  it('hands the settings of its phone to the host, and the run tells them', async () => {
    const phone_settings = { time_zone: 'Europe/Berlin', location: { latitude: 52.52, longitude: 13.4 } };
    const launchId = crypto.randomUUID();
    await server.start(deviceId, launchId, { phone_settings });
    const [launch] = launchesOf(launchId);
    expect(launch?.phone_settings).toEqual(phone_settings);
    const run = await server.api('GET', `/api/v2/runs/${launch?.runs[0]?.run_id ?? ''}`);
    expect(run.body).toMatchObject({ run: { parameters: { phone_settings } } });
    for (const wrong of [{ timezone: 'UTC' }, { brightness: 256 }, { http_proxy: "x' :1" }])
      expect((await server.start(deviceId, crypto.randomUUID(), { phone_settings: wrong })).status).toBe(400);
    const other = await server.start(deviceId, launchId, { phone_settings: { brightness: 0 } });
    expect(other.body).toMatchObject({ code: 'launch_id_conflict' });
  });

  it.each([
    ['nothing', undefined, undefined],
    ['empty objects', {}, {}],
    [
      'nested and odd values',
      { a: [1, null, { b: [[]] }], 'key with space': '\u2028é😀\u0000"' },
      { '': 0, '1': 1.5e300 },
    ],
    [
      'keys that mean something in JavaScript',
      JSON.parse('{"__proto__":{"x":1},"constructor":{"prototype":1},"toString":1}'),
      {},
    ],
    ['a lone surrogate', { text: '\ud800' }, {}],
    ['numbers at the edges', { a: -0, b: Number.MAX_SAFE_INTEGER, c: 5e-324, d: 1e21 }, {}],
  ])('hands %s to the host unchanged', async (_name, automationParameters, jobVariables) => {
    const launchId = crypto.randomUUID();
    await server.start(deviceId, launchId, { automationParameters, jobVariables });
    const launch = launchesOf(launchId)[0];
    expect(JSON.stringify(launch?.automation_parameters)).toBe(JSON.stringify(automationParameters ?? {}));
    expect(JSON.stringify(launch?.job_variables)).toBe(JSON.stringify(jobVariables ?? {}));
  });

  it.each([
    ['TypeScript', 'const n: number = 1; // ä😀\nconsole.log(n);\n', true],
    ['what no database stores as text', '// nul \0, half a pair \ud800', true],
    ['nothing', '', true],
    ['more than is kept', `//${'x'.repeat(1024 * 1024)}`, false],
  ])('keeps its code, %s, with the run', async (_name, code, isKept) => {
    const launchId = crypto.randomUUID();
    expect((await server.start(deviceId, launchId, { code })).status).toBe(200);
    const path = `/api/v2/runs/${launchesOf(launchId)[0]?.runs[0]?.run_id}/code`;
    expect((await server.api('GET', path)).body).toEqual({ success: true, code: isKept ? code : null });
  });

  it('names the phone by its serial and its device ID, and its launcher by no ID', async () => {
    const { launchId, runId } = await server.startRun(host, otherDeviceId);
    const { id: userId } = (await server.api('GET', '/api/v2/me')).body['user'] as { id: string };
    const by = expect.not.stringContaining(userId) as string;
    expect(launchesOf(launchId)[0]?.runs).toEqual([
      { run_id: runId, device_id: otherDeviceId, serial: 'serial-2', by },
    ]);
  });

  it('of the same code on more phones at once than may wait for the compiler is compiled once', async () => {
    const serials = Array.from({ length: 150 }, (_, index) => `many-${index}`);
    // Hosts get the product's default acknowledgement timeout, so that they stay confirmed on a slow machine.
    const patient = await TestServer.start();
    const { deviceIds } = await patient.connectHost({ serials });
    const replies = await Promise.all(deviceIds.map((id) => patient.start(id)));
    await patient.dispose();
    expect(replies.filter(({ status }) => status !== 200).map(({ text }) => text)).toEqual([]);
  });

  it('hands over compiled code with a source map of main.ts', async () => {
    const launchId = crypto.randomUUID();
    await server.start(deviceId, launchId, {
      code: 'const n: number = await Promise.resolve(1);\nexport {}; console.log(n)',
    });
    const bundle = launchesOf(launchId)[0]?.bundle.content;
    expect(bundle?.code).toContain('await Promise.resolve(1)');
    expect(bundle?.code).not.toContain('number');
    expect(JSON.parse(bundle?.source_map ?? '')).toMatchObject({ version: 3, sources: ['main.ts'] });
  });

  it.each([
    ['a syntax error', 'const a = 1;\nconst = 2', /^main\.ts\(2,7\): error TS\d+: /],
    ['an import', 'import fs from "node:fs";', /^main\.ts\(1,16\): error TS2307: Cannot import "node:fs"/],
    ['a dynamic import', 'await import("./other.ts")', /Cannot import/],
    ['an import of the service’s own wrapper', 'import "phalanx:code"', /Cannot import/],
    ['a require', 'require("fs")', /Cannot import/],
    ['a file of this machine', 'import "/etc/passwd"', /Cannot import/],
  ])('of code with %s is 400 with its place, and nothing is launched', async (_name, code, line) => {
    const launchId = crypto.randomUUID();
    const reply = await server.start(deviceId, launchId, { code });
    expect(reply.status, reply.text).toBe(400);
    expect(reply.body).toMatchObject({
      success: false,
      code: 'compile_failed',
      message: expect.any(String),
      errors: expect.any(Array),
    });
    expect((reply.body['errors'] as string[])[0]).toMatch(line);
    expect(launchesOf(launchId)).toHaveLength(0);
    const { body } = await server.api('GET', `/api/v2/runs?automation_id=${launchId}`);
    expect(body['runs']).toEqual([]);
  });

  it('that does not compile leaves its launch ID free for the mended code', async () => {
    const launchId = crypto.randomUUID();
    expect((await server.start(deviceId, launchId, { code: '(' })).status).toBe(400);
    expect((await server.start(deviceId, launchId, { code: '1' })).status).toBe(200);
  });

  it('that the host refuses is 400 with its reason', async () => {
    host.launchHabit = 'refuse';
    const reply = await server.start(deviceId);
    expect(reply.body).toMatchObject({ success: false, code: 'launch_not_acknowledged' });
    expect(reply.body['message']).toContain(
      `Not started: ${deviceId} serial-1 (the host has no memory left). Started: none.`,
    );
    const row = { device_id: deviceId, outcome: 'refused', run_id: expect.any(String) };
    const reason = `${deviceId} serial-1: the host has no memory left`;
    expect(reply.body['devices']).toEqual([{ ...row, code: expect.any(String), reason }]);
  });

  it.each([
    ['with its start time', {}],
    ['without one', { started_at: null }],
  ])('of code that has completed when the host reports, %s, is a success', async (_name, more) => {
    host.launchHabit = 'silent';
    const launchId = crypto.randomUUID();
    const launched = host.waitFor('launch');
    const reply = server.start(deviceId, launchId);
    const runId = (await launched).runs[0]?.run_id ?? '';
    host.report(runId, 'completed', more);
    expect((await reply).status).toBe(200);
    expect(await server.run(runId)).toMatchObject({
      status: 'completed',
      error: null,
      started_at: expect.any(Number),
    });
  });

  it('that is not acknowledged in time is 400, names the device, and the host is told to stop it', async () => {
    host.launchHabit = 'silent';
    const stopped = host.waitFor('stop');
    const launchId = crypto.randomUUID();
    const reply = await server.start(deviceId, launchId);
    expect(reply.status).toBe(400);
    expect(reply.body['message']).toBe(
      `Not every device confirmed the start in time. Not started: ${deviceId} serial-1 (no answer). Started: none.`,
    );
    const runId = launchesOf(launchId)[0]?.runs[0]?.run_id ?? '';
    const silent = { device_id: deviceId, outcome: 'not_acknowledged', code: 'launch_not_acknowledged' };
    const reason = `${deviceId} serial-1: no answer in time; it will not start.`;
    expect(reply.body['devices']).toEqual([{ ...silent, reason, run_id: runId }]);
    expect((await server.start(deviceId, launchId)).text).toBe(reply.text);
    expect((await stopped).run_ids).toEqual([runId]);
    host.launchHabit = 'ack';
    expect((await server.start(deviceId, launchId)).text).toBe(reply.text);
    expect(launchesOf(launchId)).toHaveLength(1);
  });

  it('that begins after its caller was told that it had not is stopped', async () => {
    host.launchHabit = 'silent';
    host.stopHabit = 'silent';
    const launchId = crypto.randomUUID();
    expect((await server.start(deviceId, launchId)).status).toBe(400);
    const runId = launchesOf(launchId)[0]?.runs[0]?.run_id ?? '';
    host.stopHabit = 'confirm';
    const stored = host.waitFor('runs_stored');
    host.report(runId, 'running');
    await stored;
    expect(await server.run(runId)).toMatchObject({ status: 'stopped' });
  });

  // Needs a single server: with several, another server may store the code and send it again.
  it.runIf(isOneServer)(
    'whose host is cut off before it answers fails with that reason when the host is back without it',
    async () => {
      // The host has to reconnect within this timeout.
      const patient = await TestServer.start({ ackTimeoutMs: 10_000 });
      const { host: silent, deviceId: id } = await patient.connectHost({ launchHabit: 'silent' });
      const launched = silent.waitFor('launch');
      const reply = patient.start(id);
      await launched;
      await silent.cut();
      await silent.connect();
      expect((await reply).body['message']).toContain(
        'The connection to the host broke before the host had the code',
      );
      await patient.dispose();
    },
  );
});

describe('a launch ID', () => {
  it('starts one run and gives one answer, for a hundred requests at once and for every later one', async () => {
    const launchId = crypto.randomUUID();
    const replies = await Promise.all(Array.from({ length: 100 }, () => server.start(deviceId, launchId)));
    expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(replies[0]?.body).toMatchObject({ success: true, devices: [{ outcome: 'started' }] });
    expect((await server.start(deviceId, launchId)).text).toBe(replies[0]?.text);
    expect(launchesOf(launchId)).toHaveLength(1);
    const { body } = await server.api('GET', `/api/v2/runs?automation_id=${launchId}`);
    expect(body['runs']).toHaveLength(1);
    const audit = await server.api('GET', '/api/v2/audit?action=launch&outcome=done&limit=1000');
    expect(audit.text.split(launchId)).toHaveLength(2);
  });

  it('gives the same answer after its run has ended', async () => {
    const launchId = crypto.randomUUID();
    const first = await server.start(deviceId, launchId);
    expect(first.status, first.text).toBe(200);
    await server.stop(deviceId, launchId);
    expect((await server.start(deviceId, launchId)).text).toBe(first.text);
    expect(launchesOf(launchId)).toHaveLength(1);
  });

  it('gives the same answer after the device has gone offline', async () => {
    const launchId = crypto.randomUUID();
    const first = await server.start(deviceId, launchId);
    await host.cut();
    expect((await server.start(deviceId, launchId)).text).toBe(first.text);
    await host.connect();
  });

  it('gives the same answer after a restart of the service', async () => {
    const launchId = crypto.randomUUID();
    const first = await server.start(deviceId, launchId);
    await server.restart();
    expect((await server.start(deviceId, launchId)).text).toBe(first.text);
    host.url = server.url;
    await host.connect();
    expect((await server.start(deviceId, launchId)).text).toBe(first.text);
    expect(launchesOf(launchId)).toHaveLength(1);
  });

  it('gives the same answer when only the order of keys is another', async () => {
    const launchId = crypto.randomUUID();
    const given = { a: [{ x: 1, y: 2 }], b: { c: 1, d: 2 } };
    const turned = { b: { d: 2, c: 1 }, a: [{ y: 2, x: 1 }] };
    const first = await server.start(deviceId, launchId, { automationParameters: given });
    expect((await server.start(deviceId, launchId, { automationParameters: turned })).text).toBe(first.text);
    expect(launchesOf(launchId)).toHaveLength(1);
  });

  it.each<[string, () => Record<string, unknown>]>([
    ['code', () => ({ code: 'console.log(2)' })],
    ['device', () => ({ device_id: otherDeviceId })],
    ['automationParameters', () => ({ automationParameters: { a: 1 } })],
    ['jobVariables', () => ({ jobVariables: { a: 1 } })],
  ])('is refused with another %s', async (_name, more) => {
    const launchId = crypto.randomUUID();
    await server.start(deviceId, launchId);
    const reply = await server.start(deviceId, launchId, more());
    expect(reply.status).toBe(400);
    expect(reply.body).toMatchObject({ success: false, code: 'launch_id_conflict' });
    expect(reply.body['message']).toContain(launchId);
    expect(launchesOf(launchId)).toHaveLength(1);
  });

  it('is refused with other code while the first request is still under way', async () => {
    const launchId = crypto.randomUUID();
    const replies = await Promise.all([
      server.start(deviceId, launchId),
      server.start(deviceId, launchId, { code: 'other()' }),
    ]);
    expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([200, 400]));
    expect(launchesOf(launchId)).toHaveLength(1);
  });

  it('of one user means nothing for another', async () => {
    const other = await server.createCaller('another');
    const theirs = await server.connectHost({ token: other.token }, other.api);
    const launchId = crypto.randomUUID();
    await server.start(deviceId, launchId);
    const reply = await other.api(
      'POST',
      launchPath,
      startBody(theirs.deviceId, launchId, { code: 'theirs()' }),
    );
    expect(reply.status, reply.text).toBe(200);
    expect(theirs.host.messages('launch')).toHaveLength(1);
    expect(launchesOf(launchId)).toHaveLength(1);
  });

  it('is not used up by a request for a device that is offline', async () => {
    const launchId = crypto.randomUUID();
    await host.cut();
    await server.seenEverywhere(deviceId, 'offline');
    expect((await server.start(deviceId, launchId)).body).toMatchObject({ code: 'devices_unavailable' });
    await host.connect();
    expect((await server.start(deviceId, launchId)).status).toBe(200);
  });
});

describe('a device that is not online', () => {
  it.each([launchPath, stopAllPath])('%s names it with its state and reason', async (path) => {
    host.devices = [
      deviceReport('serial-1', { state: 'unauthorized', reason: 'Confirm the dialog on the phone' }),
    ];
    host.send({ type: 'devices', devices: host.devices });
    await server.seenEverywhere(deviceId, 'unauthorized');
    const reply = await server.api('POST', path, startBody(deviceId));
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual({
      success: false,
      code: 'devices_unavailable',
      message: `Some devices offline or not found: ${deviceId} serial-1 (unauthorized: Confirm the dialog on the phone).`,
      devices: [
        {
          device_id: deviceId,
          outcome: 'refused',
          code: 'unauthorized',
          reason: `${deviceId} serial-1: unauthorized: Confirm the dialog on the phone`,
          run_id: null,
        },
      ],
    });
    expect(host.messages('launch')).toHaveLength(0);
  });

  it('is one whose host has not confirmed it within the last heartbeats', async () => {
    const strict = await TestServer.start({ heartbeatMs: 5000 });
    const serials = ['serial-1', 'serial-2'];
    const quiet = await strict.connectHost({ serials, heartbeatHabit: 'silent' });
    const [id = '', otherId = ''] = quiet.deviceIds;
    strict.clock.advance(10_001);
    await quiet.host.heartbeat(['serial-2']);
    await strict.seenEverywhere(id, 'unresponsive');
    const reply = await strict.start(id);
    expect(reply.status).toBe(400);
    expect(reply.body['message']).toContain(`${id} serial-1 (unresponsive: `);
    expect((await strict.start(otherId)).status).toBe(200);
    await quiet.host.heartbeat();
    await expect.poll(async () => (await strict.start(id)).status).toBe(200);
    await strict.dispose();
  });
});

describe('a stop', () => {
  it('is answered when the run has ended', async () => {
    const { launchId, runId } = await server.startRun(host, deviceId);
    const reply = await server.stop(deviceId, launchId);
    const row = { device_id: deviceId, outcome: 'stopped', code: null, reason: null, run_id: runId };
    expect(reply.body).toEqual({ success: true, message: 'Stopped.', devices: [row] });
    expect(await server.run(runId)).toMatchObject({ status: 'stopped', ended_at: expect.any(Number) });
  });

  it.each<[string, () => Promise<string>]>([
    ['was never launched', async () => crypto.randomUUID()],
    [
      'has ended',
      async () => {
        const { launchId } = await server.startRun(host, deviceId);
        await server.stop(deviceId, launchId);
        return launchId;
      },
    ],
    ['runs on another device', async () => (await server.startRun(host, otherDeviceId)).launchId],
  ])('of what %s is a success that says so', async (_name, prepare) => {
    const reply = await server.stop(deviceId, await prepare());
    expect(reply.body).toEqual({
      success: true,
      message: 'Nothing to stop: it does not run on this device.',
      devices: [{ device_id: deviceId, outcome: 'nothing_to_stop', code: null, reason: null, run_id: null }],
    });
  });

  it('leaves the other runs of the device alone', async () => {
    const kept = await server.startRun(host, deviceId);
    const { launchId } = await server.startRun(host, deviceId);
    await server.stop(deviceId, launchId);
    expect(await server.run(kept.runId)).toMatchObject({ status: 'running' });
  });

  it('that the host does not confirm is 400 and stays requested until the host is back', async () => {
    const { launchId, runId } = await server.startRun(host, deviceId);
    host.stopHabit = 'silent';
    const reply = await server.stop(deviceId, launchId);
    expect(reply.status).toBe(400);
    const row = {
      device_id: deviceId,
      outcome: 'not_acknowledged',
      code: 'stop_not_confirmed',
      run_id: runId,
    };
    expect(reply.body).toMatchObject({ success: false, code: 'stop_not_confirmed', devices: [row] });
    expect(reply.body['message']).toContain(runId);
    await server.restart();
    host.url = server.url;
    host.stopHabit = 'confirm';
    const stored = host.waitFor('runs_stored', (message) => message.run_ids.includes(runId));
    await host.connect();
    await stored;
    expect(await server.run(runId)).toMatchObject({ status: 'stopped' });
  });

  it('on a device whose host is away is 400', async () => {
    const { launchId } = await server.startRun(host, deviceId);
    await host.cut();
    await server.seenEverywhere(deviceId, 'offline');
    expect((await server.stop(deviceId, launchId)).body).toMatchObject({ code: 'devices_unavailable' });
    await host.connect();
  });
});

describe('a stop of everything on a device', () => {
  it('ends every run of the device and of no other', async () => {
    const kept = await server.startRun(host, otherDeviceId);
    const runs = [await server.startRun(host, deviceId), await server.startRun(host, deviceId)];
    const reply = await stopAll(deviceId);
    expect(reply.body).toMatchObject({ success: true, message: 'Stopped 2 automations.' });
    for (const { runId } of runs) expect(await server.run(runId)).toMatchObject({ status: 'stopped' });
    expect(await server.run(kept.runId)).toMatchObject({ status: 'running' });
    await stopAll(otherDeviceId);
  });

  it('is a success where nothing runs', async () => {
    expect((await stopAll(deviceId)).body).toMatchObject({
      success: true,
      message: 'Nothing to stop: no automation runs on this device.',
    });
  });

  it('takes the same for a device that another host has taken over', async () => {
    await host.cut();
    const second = await server.connectHost({ token: adminToken });
    expect(second.deviceId).toBe(deviceId);
    const { runId } = await server.startRun(second.host, deviceId);
    expect((await stopAll(deviceId)).status).toBe(200);
    expect(await server.run(runId)).toMatchObject({ status: 'stopped' });
    await second.host.cut();
    await host.connect();
  });
});
