import { randomBytes } from 'node:crypto';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { oldestHostProtocolVersion } from '@phalanx/protocol';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';

import type { TestHost } from '../../testing/test-host.ts';
import { TestServer } from '../../testing/test-server.ts';
import { SealingKey } from './sealing-key.ts';

let server: TestServer;
let host: TestHost;
let deviceId: string;
let projectId: string;

beforeAll(async () => {
  server = await TestServer.start();
  ({ host, deviceId } = await server.connectHost());
});
afterAll(() => server.dispose());
beforeEach(async () => {
  projectId = await server.createProject();
});

const pathOf = (name = ''): string => `/api/v2/automation-project/${projectId}/secrets${name && `/${name}`}`;
const put = (name: string, value: unknown) => server.api('PUT', pathOf(name), { body: { value } });
const keyFile = (): string => path.join(server.dataDir, 'secrets.key');

const start = (automationParameters: object = {}) =>
  server.api('POST', '/api/v2/devices/launchAutomation', {
    body: { device_ids: [deviceId], automationId: projectId, command: 'start', automationParameters },
  });

async function launched(parameters: object = {}) {
  await server.api('PUT', `/api/v2/automation/file/${projectId}`, {
    body: { path: 'main.js', content: 'console.log(1)' },
  });
  const reply = await start(parameters);
  expect(reply.body).toMatchObject({ success: true });
  return host.messages('launch').find((message) => message.automation_id === projectId);
}

it('a secret reaches the host of a launch, and no reply has its value', async () => {
  const stored = await put('PASSWORD', 'hunter2-and-more');
  expect(stored.body).toMatchObject({ success: true, secret: { name: 'PASSWORD', version: 1 } });
  expect((await put('PASSWORD', 'hunter3-and-more')).body).toMatchObject({ secret: { version: 2 } });
  const listed = await server.api('GET', pathOf());
  expect(listed.body['secrets']).toMatchObject([{ name: 'PASSWORD', version: 2 }]);
  const message = await launched({ again: 'my hunter3-and-more' });
  expect(message?.secrets).toEqual({ PASSWORD: 'hunter3-and-more' });
  expect(message?.automation_parameters).toEqual({ again: 'my hunter3-and-more' });
  const { body } = await server.api('GET', `/api/v2/runs/${message?.runs[0]?.run_id}`);
  expect(body['run']).toMatchObject({ parameters: { automation_parameters: { again: 'my [secret]' } } });
  const audit = await server.api('GET', '/api/v2/audit?limit=1000');
  expect(JSON.stringify(audit.body)).toContain('set_secret');
  expect(JSON.stringify([stored, listed, body, audit])).not.toContain('hunter');
});

it('a value that can not be stored as it is, is refused, and the one before stays', async () => {
  await put('PASSWORD', 'hunter2 \0 and more');
  const refused = await put('PASSWORD', 'hunter3 \ud83d and more');
  expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  expect((await launched())?.secrets).toEqual({ PASSWORD: 'hunter2 \0 and more' });
});

it('the data folder has values only as the key of its own file reads them', async () => {
  await put('PIN', 'planted-value-0815');
  expect((await stat(keyFile())).mode & 0o777).toBe(0o600);
  for (const name of ['phalanx.db', 'phalanx.db-wal'])
    expect((await readFile(path.join(server.dataDir, name))).includes('planted-value-0815')).toBe(false);
});

it.each([
  ['a name that is no name', 'a-b', 'long enough', 'invalid_request'],
  ['a value that is too short to be hidden', 'PIN', '123', 'invalid_request'],
  ['a value that is no text', 'PIN', 1234, 'invalid_request'],
])('%s is refused', async (_, name, value, code) => {
  const refused = await put(name, value);
  expect([refused.status, refused.body['code']]).toEqual([400, code]);
  expect(JSON.stringify(refused.body)).not.toContain('long enough');
});

it('a job or a schedule that would store a value in clear is refused', async () => {
  await put('PASSWORD', 'a "quoted" value');
  const work = { automation_id: projectId, selector: 'sdk>=1' };
  const times = { cron: '0 2 * * *', time_zone: 'UTC', paused: true };
  const hidden = { deep: ['with a "quoted" value within'] };
  for (const [kind, more] of [
    ['jobs', { parameters: hidden }],
    ['jobs', { inputs: [{ row: 1 }, { row: hidden }] }],
    ['jobs', { inputs_text: 'word\n"a ""quoted"" value"\n' }],
    ['schedules', { ...times, parameters: hidden }],
  ] as const) {
    const refused = await server.api('POST', `/api/v2/${kind}`, { body: { ...work, ...more } });
    expect([refused.status, refused.body['code']]).toEqual([400, 'secret_in_job']);
    expect(refused.text).not.toContain('quoted');
  }
  const made = await server.api('POST', '/api/v2/schedules', { body: { ...work, ...times } });
  const { id } = made.body['schedule'] as { id: string };
  const changed = await server.api('PATCH', `/api/v2/schedules/${id}`, { body: { parameters: hidden } });
  expect(changed.body).toMatchObject({ code: 'secret_in_job' });
});

it('what is kept of a launch has no value in names and numbers either, and is what the reply can hold', async () => {
  await put('PIN', '4711');
  const message = await launched({ 'key 4711': 1, pin: 4711, text: 'a\n4711' });
  const { body } = await server.api('GET', `/api/v2/runs/${message?.runs[0]?.run_id}`);
  const parameters = { 'key [secret]': 1, pin: '[secret]', text: 'a\n[secret]' };
  expect(body['run']).toMatchObject({ parameters: { automation_parameters: parameters } });
});

it('others are answered while texts that are nearly like long secrets are looked through', async () => {
  for (let no = 0; no < 12; no += 1) await put(`S${no}`, `${'a'.repeat(4090 + no)}b${'a'.repeat(4000)}`);
  const other = await server.createCaller('other');
  const job = { isAnswered: false };
  const inputs = Array.from({ length: 8 }, () => ({ row: 'a'.repeat(65_000) }));
  const body = { automation_id: projectId, selector: 'sdk>=1', inputs };
  const times = [performance.now()];
  const made = server.api('POST', '/api/v2/jobs', { body }).finally(() => (job.isAnswered = true));
  while (!job.isAnswered) {
    expect((await other.api('GET', '/api/v2/me')).status).toBe(200);
    times.push(performance.now());
  }
  expect(await made.then(({ status }) => status)).toBe(201);
  const waits = times.slice(1).map((time, no) => time - (times[no] ?? 0));
  const all = waits.reduce((sum, wait) => sum + wait, 0);
  expect(Math.max(...waits) / all, 'the longest wait for an answer, of the whole time').toBeLessThan(0.8);
});

it('a deleted secret reaches no launch, and cannot be deleted again', async () => {
  await put('A', 'first value');
  await put('B', 'second value');
  expect((await server.api('DELETE', pathOf('A'))).status).toBe(200);
  expect((await server.api('DELETE', pathOf('A'))).body['code']).toBe('secret_not_found');
  expect((await launched())?.secrets).toEqual({ B: 'second value' });
});

it('a project has at most 100 secrets', async () => {
  for (let n = 0; n < 100; n += 1) expect((await put(`S${n}`, 'some value')).status).toBe(200);
  expect((await put('ONE_MORE', 'some value')).body['code']).toBe('too_many_secrets');
  expect((await put('S0', 'other value')).status).toBe(200);
});

it('whoever has no part in the project, or may only view it, learns nothing of its secrets', async () => {
  await put('PASSWORD', 'hunter2-and-more');
  const stranger = await server.createCaller('stranger');
  const viewer = await server.createCaller('viewer');
  await server.api('PUT', `/api/v2/automation-project/${projectId}/members/${viewer.userId}`, {
    body: { role: 'shared_viewer' },
  });
  for (const { api } of [stranger, viewer]) {
    for (const [method, name] of [
      ['GET', ''],
      ['PUT', 'PASSWORD'],
      ['DELETE', 'PASSWORD'],
    ] as const) {
      const body = { value: 'taken over' };
      const reply = await api(method, pathOf(name), method === 'PUT' ? { body } : {});
      expect([reply.status, reply.body['code']]).toEqual([404, 'project_not_found']);
    }
  }
  expect((await launched())?.secrets).toEqual({ PASSWORD: 'hunter2-and-more' });
});

it('a project with secrets is launched on no host that would show them', async () => {
  await host.cut();
  await host.open();
  host.sendHello({ protocol_version: oldestHostProtocolVersion });
  await host.heartbeat();
  await put('PASSWORD', 'hunter2-and-more');
  await server.api('PUT', `/api/v2/automation/file/${projectId}`, {
    body: { path: 'main.js', content: 'console.log(1)' },
  });
  const refused = await start();
  expect([refused.status, refused.body['code']]).toEqual([400, 'devices_unavailable']);
  expect(refused.body['message']).toContain('does not support secrets');
  await server.api('DELETE', pathOf('PASSWORD'));
  expect((await start()).status).toBe(200);
  await host.cut();
  await host.connect();
});

it('values are sealed with a new first key at the next start, and a server without their key refuses', async () => {
  await put('PASSWORD', 'hunter2-and-more');
  const old = await readFile(keyFile(), 'utf8');
  const fresh = `${randomBytes(32).toString('hex')}\n`;
  await writeFile(keyFile(), fresh + old);
  await host.cut();
  await server.restart();
  const { id } = new SealingKey(Buffer.from(fresh.trim(), 'hex'));
  const database = new Database(path.join(server.dataDir, 'phalanx.db'), { readonly: true });
  const ofOtherKeys = database.prepare('select name from project_secret where sealed not like ?');
  await expect.poll(() => ofOtherKeys.all(`v1.${id}.%`)).toEqual([]);
  database.close();
  await writeFile(keyFile(), fresh);
  await server.restart();
  ({ host, deviceId } = await server.connectHost());
  expect((await launched())?.secrets).toEqual({ PASSWORD: 'hunter2-and-more' });
  await host.cut();
  await rm(keyFile());
  await server.restart();
  const refused = await put('OTHER', 'some value');
  expect([refused.status, refused.body['code']]).toEqual([503, 'secrets_unavailable']);
});
