import { createPublicKey, verify } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Webhook, WebhookDelivery, webhookEvents } from '@phalanx/protocol';
import { Webhook as Checker } from 'standardwebhooks';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';

import { TestProject } from '../../code/projects/testing/test-projects.ts';
import { type ApiCaller, createApiCaller } from '../../testing/api-caller.ts';
import { labelledScreens } from '../../testing/records/labelled-screens.ts';
import { recordReport, screenReport, sendReport } from '../../testing/records/record-reports.ts';
import type { TestHost } from '../../testing/test-host.ts';
import { TestServer } from '../../testing/test-server.ts';
import { answer, type Received, Receiver } from './testing/receiver.ts';
import { minuteMs, hourMs } from '@phalanx/timing/durations';

const webhooks = Compile(Webhook);
const deliveryLists = Compile(Type.Array(WebhookDelivery));
const timeouts = { timeout: 30_000, interval: 50 };

let folder: string;
let server: TestServer;
let host: TestHost;
let deviceId: string;
let receiver: Receiver;
let made: { id: string; api: ApiCaller }[] = [];

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'phalanx-webhooks-'));
  server = await TestServer.start({
    ackTimeoutMs: 10_000,
    sweepMs: 300,
    settings: {
      PHALANX_WEBHOOK_NETWORKS: '127.0.0.2/32',
      PHALANX_SECRETS_KEY_FILE: path.join(folder, 'secrets.key'),
    },
  });
  ({ host, deviceId } = await server.connectHost({ launchHabit: 'ends_at_once' }));
});
afterAll(async () => {
  await host.cut();
  await server.dispose();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  receiver = await Receiver.start();
  host.launchHabit = 'ends_at_once';
});
afterEach(async () => {
  for (const { id, api } of made) await api('DELETE', `/api/v2/webhooks/${id}`);
  made = [];
  await receiver.close();
});

interface Made {
  webhook: Webhook;
  secret: string;
}

async function create(more: object = {}, api: ApiCaller = server.api): Promise<Made> {
  const body = { url: receiver.url, events: ['run.ended'], ...more };
  const reply = await api('POST', '/api/v2/webhooks', { body });
  const { webhook, secret } = reply.body;
  if (!webhooks.Check(webhook)) throw new Error(reply.text);
  made.push({ id: webhook.id, api });
  return { webhook, secret: String(secret) };
}
const change = (id: string, body: object) => server.api('PATCH', `/api/v2/webhooks/${id}`, { body });

async function find(id: string): Promise<Webhook> {
  const { body, text } = await server.api('GET', `/api/v2/webhooks/${id}`);
  if (!webhooks.Check(body['webhook'])) throw new Error(text);
  return body['webhook'];
}
async function deliveriesOf(id: string): Promise<WebhookDelivery[]> {
  const { body, text } = await server.api('GET', `/api/v2/webhooks/${id}/deliveries`);
  if (!deliveryLists.Check(body['deliveries'])) throw new Error(text);
  return body['deliveries'];
}
/** Runs direct code that ends at once. Returns its launch ID. */
async function run(): Promise<string> {
  const launchId = crypto.randomUUID();
  const { status, text } = await server.start(deviceId, launchId);
  if (status !== 200) throw new Error(text);
  return launchId;
}
function first(): Received {
  const [received] = receiver.received;
  if (received === undefined) throw new Error('nothing was received');
  return received;
}
async function launch(automationId: string): Promise<void> {
  const body = { device_ids: [deviceId], automationId, command: 'start' };
  const { status, text } = await server.api('POST', '/api/v2/devices/launchAutomation', { body });
  if (status !== 200) throw new Error(text);
}

it('a run that ends is told once, signed with the shared secret, and to nobody who may not see it', async () => {
  const ada = await server.createCaller('ada');
  const mine = await create();
  const theirs = await create({ url: `${receiver.url}-of-ada` }, ada.api);
  const launchId = await run();
  await expect.poll(() => receiver.received.length, timeouts).toBe(1);
  const { signed, text, body } = first();
  expect(new Checker(mine.secret).verify(text, signed)).toEqual(body);
  expect(Compile(webhookEvents['run.ended']).Check(body)).toBe(true);
  expect(body.data).toMatchObject({ launch_id: launchId, device_id: deviceId, status: 'completed' });
  await expect
    .poll(() => deliveriesOf(mine.webhook.id), timeouts)
    .toMatchObject([{ id: signed['webhook-id'], status: 'delivered', attempts: 1, response_status: 200 }]);
  expect(await find(mine.webhook.id)).toMatchObject({ health: { state: 'ok', waiting: 0 } });
  const { body: listed } = await ada.api('GET', `/api/v2/webhooks/${theirs.webhook.id}/deliveries`);
  expect(listed['deliveries']).toEqual([]);
});

it('a webhook is its user’s own: others do not find it, and administrators see all', async () => {
  const eve = await server.createCaller('eve');
  const mine = await create();
  const theirs = await create({}, eve.api);
  const address = `/api/v2/webhooks/${mine.webhook.id}`;
  for (const [method, end] of [
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/secret'],
    ['POST', '/test'],
    ['GET', '/deliveries'],
    ['POST', `/deliveries/${crypto.randomUUID()}/replay`],
  ] as const)
    expect((await eve.api(method, `${address}${end}`)).body, end).toMatchObject({
      code: 'webhook_not_found',
    });
  expect((await eve.api('PATCH', address, { body: { paused: true } })).status).toBe(404);
  const idsOf = async (api: ApiCaller): Promise<string[]> => {
    const { body } = await api('GET', '/api/v2/webhooks');
    return Array.isArray(body['webhooks']) ? body['webhooks'].map(({ id }: Webhook) => id) : [];
  };
  expect(await idsOf(eve.api)).toEqual([theirs.webhook.id]);
  expect(await idsOf(server.api)).toEqual([theirs.webhook.id, mine.webhook.id]);
  const { secret } = await server.createToken({
    scopes: ['read', 'edit'],
    project_ids: [await server.createProject()],
  });
  expect((await server.api('GET', address, { token: secret })).status).toBe(404);
  await server.api('DELETE', `/api/v2/users/${eve.userId}`);
  expect(await idsOf(server.api)).toEqual([mine.webhook.id]);
});

it('a webhook of a limited token ends with it, and goes on once another token has changed it', async () => {
  const project = await TestProject.create(server.api);
  await project.put('main.ts', 'console.log(1);');
  const tokenOf = () => server.createToken({ scopes: ['read', 'launch', 'edit'], project_ids: [project.id] });
  const tokens = [await tokenOf(), await tokenOf()];
  const [api = server.api, other = server.api] = tokens.map(({ secret }) =>
    createApiCaller(server.url, secret),
  );
  const { webhook } = await create({}, api);
  await launch(project.id);
  await expect.poll(() => receiver.received.length, timeouts).toBe(1);
  expect((await server.api('DELETE', `/api/v2/tokens/${tokens[0]?.id}`)).status).toBe(200);
  await launch(project.id);
  await expect
    .poll(() => find(webhook.id), timeouts)
    .toMatchObject({
      paused: true,
      problem: 'The limited token with which the webhook was made has expired or was revoked',
      health: { state: 'disabled' },
    });
  await launch(project.id);
  expect(receiver.received.length).toBe(1);
  expect((await other('PATCH', `/api/v2/webhooks/${webhook.id}`, { body: { paused: false } })).status).toBe(
    200,
  );
  await launch(project.id);
  await expect.poll(() => receiver.received.length, timeouts).toBe(2);
  made = made.map(({ id }) => ({ id, api: server.api }));
});

it('a webhook with a key pair is checked with its public key, and nobody is shown the private one', async () => {
  const { webhook, secret } = await create({ signature: 'v1a' });
  expect(secret).toBe('null');
  await server.api('POST', `/api/v2/webhooks/${webhook.id}/test`);
  await expect.poll(() => receiver.received.length, timeouts).toBe(1);
  const { signed, text, body } = first();
  expect(body).toMatchObject({ type: 'webhook.test', data: { webhook_id: webhook.id } });
  const [kind, signature = ''] = String(signed['webhook-signature']).split(',');
  expect(kind).toBe('v1a');
  const x = Buffer.from(webhook.public_key?.replace('whpk_', '') ?? '', 'base64').toString('base64url');
  const key = createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x } });
  const content = Buffer.from(`${signed['webhook-id']}.${signed['webhook-timestamp']}.${text}`);
  expect(verify(null, content, key, Buffer.from(signature, 'base64'))).toBe(true);
});

it('a new secret signs at once, the one before for another day', async () => {
  const { webhook, secret } = await create();
  const { body } = await server.api('POST', `/api/v2/webhooks/${webhook.id}/secret`);
  const secrets = [secret, String(body['secret'])];
  expect(secrets[1]).toMatch(/^whsec_/);
  expect(secrets[1]).not.toBe(secret);
  await server.api('POST', `/api/v2/webhooks/${webhook.id}/test`);
  await expect.poll(() => receiver.received.length, timeouts).toBe(1);
  const { signed, text } = first();
  for (const one of secrets) new Checker(one).verify(text, signed);
  server.clock.advance(25 * hourMs);
  await server.api('POST', `/api/v2/webhooks/${webhook.id}/test`);
  await expect.poll(() => receiver.received.length, timeouts).toBe(2);
  expect(receiver.received[1]?.signed['webhook-signature']?.split(' ')).toHaveLength(1);
});

it('only what was asked for is told: outcomes and projects', async () => {
  const project = await TestProject.create(server.api);
  await project.put('main.ts', 'console.log(1);');
  await create({ name: 'failed', outcomes: ['failed', 'lost'] });
  await create({ name: 'project', url: `${receiver.url}?project`, project_ids: [project.id.toUpperCase()] });
  await run();
  await launch(project.id);
  await expect.poll(() => receiver.received.length, timeouts).toBe(1);
  expect(receiver.received[0]?.body.data).toMatchObject({ automation_id: project.id });
});

/** Waits until the results of `attempts` attempts of all unfinished deliveries are stored. */
async function untilMade(id: string, attempts: number): Promise<void> {
  const isMade = (one: WebhookDelivery): boolean =>
    one.next_attempt_at === null || (one.attempts === attempts && one.next_attempt_at > server.clock.now());
  const areMade = async (): Promise<boolean> => {
    const deliveries = await deliveriesOf(id);
    return deliveries.length > 0 && deliveries.every(isMade);
  };
  await expect.poll(areMade, timeouts).toBe(true);
}

it('a receiver that is down for three hours loses nothing, and gets each message under its one ID', async () => {
  receiver.habit = answer(503);
  const { webhook } = await create();
  const launches = [await run(), await run()];
  await expect.poll(async () => (await deliveriesOf(webhook.id)).length, timeouts).toBe(2);
  for (let attempt = 1; attempt <= 4; attempt += 1) {
    await untilMade(webhook.id, attempt);
    server.clock.advance(45 * minuteMs);
  }
  const health = { state: 'failing', waiting: 2, last_failure: 'status 503' };
  expect(await find(webhook.id)).toMatchObject({ health });
  receiver.habit = answer(204);
  server.clock.advance(2 * hourMs);
  const statuses = async () => (await deliveriesOf(webhook.id)).map(({ status }) => status);
  await expect.poll(statuses, timeouts).toEqual(['delivered', 'delivered']);
  expect(await find(webhook.id)).toMatchObject({ health: { state: 'ok', failing_since: null } });
  for (const launchId of launches) {
    const told = receiver.about('launch_id', launchId);
    expect(new Set(told.map(({ signed }) => signed['webhook-id'])).size).toBe(1);
    expect(new Set(told.map(({ text }) => text)).size).toBe(1);
  }
});

/**
 * Advances the clock to the next attempt of the newest delivery, after each attempt, until the delivery has failed or
 * the webhook is paused.
 */
async function untilFailed(id: string): Promise<void> {
  for (let attempt = 1; attempt <= 10; attempt += 1) {
    await untilMade(id, attempt);
    const next = (await deliveriesOf(id))[0]?.next_attempt_at ?? null;
    if (next === null || (await find(id)).paused) return;
    server.clock.advance(next - server.clock.now() + 1);
  }
}

it('after three days a delivery has failed, after five days its webhook is disabled, and a replay makes it', async () => {
  receiver.habit = answer(500);
  const { webhook } = await create();
  const address = `/api/v2/webhooks/${webhook.id}`;
  await run();
  const begunAt = server.clock.now();
  await untilFailed(webhook.id);
  const [failed] = await deliveriesOf(webhook.id);
  expect(failed).toMatchObject({
    status: 'failed',
    attempts: 10,
    response_status: 500,
    next_attempt_at: null,
  });
  expect((server.clock.now() - begunAt) / hourMs).toBeGreaterThan(0.9 * 75);
  expect((server.clock.now() - begunAt) / hourMs).toBeLessThan(1.1 * 76);
  expect(await find(webhook.id)).toMatchObject({ paused: false, health: { state: 'failing' } });
  await run();
  await expect.poll(async () => (await deliveriesOf(webhook.id)).length, timeouts).toBe(2);
  await untilFailed(webhook.id);
  expect(await find(webhook.id)).toMatchObject({
    paused: true,
    problem: 'No delivery was made in five days: status 500',
    health: { state: 'disabled', waiting: 1 },
  });
  const replay = () => server.api('POST', `${address}/deliveries/${failed?.id}/replay`);
  expect((await replay()).body).toMatchObject({ code: 'webhook_paused' });
  receiver.habit = answer(200);
  await change(webhook.id, { paused: false });
  expect((await replay()).body).toMatchObject({ delivery: { status: 'waiting' } });
  const delivered = async () => (await deliveriesOf(webhook.id)).at(-1);
  await expect.poll(delivered, timeouts).toMatchObject({ id: failed?.id, status: 'delivered', attempts: 1 });
  expect(receiver.received.filter(({ signed }) => signed['webhook-id'] === failed?.id)).toHaveLength(11);
});

it('a receiver that is gone for good (410) is asked once, and its webhook is disabled', async () => {
  receiver.habit = answer(410);
  const { webhook } = await create();
  await run();
  await expect
    .poll(() => find(webhook.id), timeouts)
    .toMatchObject({ paused: true, problem: expect.stringContaining('410'), health: { state: 'disabled' } });
  await run();
  server.clock.advance(hourMs);
  expect(await deliveriesOf(webhook.id)).toMatchObject([{ status: 'failed', attempts: 1 }]);
  expect(receiver.received).toHaveLength(1);
});

it('no redirect is followed, and a receiver that asks for time is given it', async () => {
  const elsewhere = await Receiver.start();
  receiver.habit = answer(307, { location: elsewhere.url, 'retry-after': '7200' });
  const { webhook } = await create();
  await run();
  await expect
    .poll(() => deliveriesOf(webhook.id), timeouts)
    .toMatchObject([
      { attempts: 1, response_status: 307, problem: 'status 307: redirects are not followed' },
    ]);
  const [{ next_attempt_at: next } = { next_attempt_at: 0 }] = await deliveriesOf(webhook.id);
  expect((next ?? 0) - server.clock.now()).toBeGreaterThan(hourMs);
  expect(elsewhere.received).toEqual([]);
  await elsewhere.close();
});

it('a receiver that never answers delays nobody else, nor its user’s other webhooks', async () => {
  const silent = await Receiver.start();
  silent.habit = () => undefined;
  await create({ url: silent.url });
  const quick = await create();
  for (let count = 0; count < 10; count += 1) await run();
  const statuses = async () => (await deliveriesOf(quick.webhook.id)).map(({ status }) => status);
  await expect.poll(statuses, timeouts).toEqual(Array<string>(10).fill('delivered'));
  expect(silent.received.length).toBeLessThanOrEqual(2 * server.urls.length);
  await silent.close();
});

it.each([
  'http://169.254.169.254/latest/meta-data',
  'http://127.0.0.1:8080/',
  'http://2130706433/',
  'http://0x7f.1/',
  'http://[::1]/',
  'http://[::ffff:10.0.0.1]/',
  'http://[64:ff9b::a00:1]/',
  'http://10.0.0.1/',
  'ftp://example.com/',
  'https://user:word@example.com/',
  'not a url',
])('%s is no target', async (url) => {
  const reply = await server.api('POST', '/api/v2/webhooks', { body: { url, events: ['run.ended'] } });
  expect(reply.body, reply.text).toMatchObject({ code: 'invalid_webhook' });
  const { webhook } = await create();
  expect((await change(webhook.id, { url })).body).toMatchObject({ code: 'invalid_webhook' });
});

it('a name that leads inward is refused when it is connected to', async () => {
  const inward = await Receiver.start('127.0.0.1');
  const { webhook } = await create({ url: inward.url.replace('127.0.0.1', 'localhost') });
  await run();
  await expect
    .poll(() => deliveriesOf(webhook.id), timeouts)
    .toMatchObject([
      { attempts: 1, response_status: null, problem: expect.stringContaining('no public address') },
    ]);
  expect(inward.received).toEqual([]);
  await inward.close();
});

it('a phone and a host that are away for long are told of once, and again when they are back', async () => {
  const { host: other, deviceId: phone } = await server.connectHost({ serials: ['leaves'] });
  const events = ['device.not_ready', 'device.back', 'host.gone', 'host.back'];
  const { webhook } = await create({ events, not_ready_minutes: 5 });
  const typesOf = () => [
    ...receiver.about('device_id', phone).map(({ body }) => body.type),
    ...receiver
      .about('host_id', other.hostId)
      .flatMap(({ body }) => (body.type.startsWith('host') ? body.type : [])),
  ];
  await other.cut();
  server.clock.advance(minuteMs);
  await server.api('POST', `/api/v2/webhooks/${webhook.id}/test`);
  await expect.poll(() => find(webhook.id), timeouts).toMatchObject({ health: { state: 'ok', waiting: 0 } });
  expect(receiver.received).toHaveLength(1);
  server.clock.advance(5 * minuteMs);
  await expect.poll(typesOf, timeouts).toEqual(['device.not_ready', 'host.gone']);
  const gone = receiver.received.find(({ body }) => body.type === 'device.not_ready')?.body;
  expect(Compile(webhookEvents['device.not_ready']).Check(gone)).toBe(true);
  await other.connect();
  // A host that has just reconnected counts as returning for a moment.
  server.clock.advance(5000);
  await expect.poll(typesOf, timeouts).toEqual(['device.not_ready', 'device.back', 'host.gone', 'host.back']);
  await other.cut();
});

it('phones that were away before anybody asked, or while the webhook was paused, are not told of', async () => {
  const { webhook } = await create({ events: ['device.not_ready', 'host.gone'], not_ready_minutes: 5 });
  server.clock.advance(10 * minuteMs);
  await change(webhook.id, { paused: true });
  const { host: other } = await server.connectHost({ serials: ['pauses'] });
  await other.cut();
  server.clock.advance(10 * minuteMs);
  await change(webhook.id, { paused: false });
  for (let sent = 1; sent <= 2; sent += 1) {
    await server.api('POST', `/api/v2/webhooks/${webhook.id}/test`);
    // Advancing the clock before the delivery is settled would end its claim.
    const statuses = async () =>
      (await deliveriesOf(webhook.id)).flatMap(({ status, payload }) =>
        payload.type === 'webhook.test' ? status : [],
      );
    await expect.poll(statuses, timeouts).toEqual(Array<string>(sent).fill('delivered'));
    server.clock.advance(10 * minuteMs);
  }
  expect(receiver.about('serial', 'pauses')).toEqual([]);
});

it('a new group of records, and one that a record has opened again, are told of', async () => {
  await create({ events: ['group.opened', 'group.reopened'] });
  const project = await TestProject.create(server.api);
  await project.put('main.ts', 'console.log(1);');
  const [shown] = labelledScreens({ hasIds: true, languages: ['en'], versions: [1], seed: 7 });
  const meet = async (): Promise<string> => {
    await launch(project.id);
    const runId = host.messages('launch').at(-1)?.runs[0]?.run_id ?? '';
    const screen = screenReport({ screenshot: null });
    const id = uuidv7({ msecs: server.clock.now() });
    await sendReport(host, recordReport(runId, { record_id: id, screens: [screen] }));
    const place = `/api/v2/hosts/records/${id}/screens/${screen.screen_id}/tree`;
    const raw = JSON.stringify(shown?.tree);
    await server.api('PUT', place, { raw, contentType: 'application/json' });
    await expect.poll(() => receiver.about('record_id', id), timeouts).toHaveLength(1);
    return id;
  };
  const beginning = await meet();
  const [opened] = receiver.received;
  expect(Compile(webhookEvents['group.opened']).Check(opened?.body)).toBe(true);
  const group = String(opened?.body.data['group_id']);
  await server.api('PATCH', `/api/v2/groups/${group}`, { body: { status: 'solved' } });
  const back = await meet();
  const reopened = receiver.received.at(-1);
  expect(Compile(webhookEvents['group.reopened']).Check(reopened?.body)).toBe(true);
  expect(reopened?.body.data).toMatchObject({ group_id: group, record_id: back });
  expect(beginning).not.toBe(back);
});

it('a new record and a skipped turn are told of', async () => {
  host.launchHabit = 'ack';
  await create({ events: ['record.new', 'schedule.skipped'] });
  const { runId } = await server.startRun(host, deviceId);
  const report = recordReport(runId, { record_id: uuidv7({ msecs: server.clock.now() }) });
  await sendReport(host, report);
  await expect.poll(() => receiver.about('record_id', report.record_id), timeouts).toHaveLength(1);
  expect(Compile(webhookEvents['record.new']).Check(receiver.received[0]?.body)).toBe(true);
  const project = await TestProject.create(server.api);
  await project.put('main.ts', 'console.log(1);');
  const schedule = {
    automation_id: project.id,
    selector: 'serial=serial-1',
    cron: '* * * * *',
    time_zone: 'UTC',
  };
  const { body } = await server.api('POST', '/api/v2/schedules', {
    body: { ...schedule, name: 'each minute' },
  });
  const skipped = () => receiver.received.filter(({ body: told }) => told.type === 'schedule.skipped');
  await expect
    .poll(() => (server.clock.advance(minuteMs), skipped().map(({ body: told }) => told.data)), {
      ...timeouts,
      interval: 1000,
    })
    .toContainEqual(
      expect.objectContaining({ schedule_name: 'each minute', reason: 'The previous job has not ended.' }),
    );
  expect(Compile(webhookEvents['schedule.skipped']).Check(skipped()[0]?.body)).toBe(true);
  const { id } = body['schedule'] as { id: string };
  await server.api('DELETE', `/api/v2/schedules/${id}`);
});

it('what its user may not see any more is not sent', async () => {
  const bob = await server.createCaller('bob');
  await server.api('PUT', `/api/v2/devices/${deviceId}/members/${bob.userId}`, { body: { role: 'launch' } });
  const project = await TestProject.create(server.api);
  await project.put('main.ts', 'console.log(1);');
  const member = `/api/v2/automation-project/${project.id}/members/${bob.userId}`;
  await server.api('PUT', member, { body: { role: 'shared_editor' } });
  for (const share of [
    { kind: 'device', id: deviceId },
    { kind: 'project', id: project.id },
  ])
    await bob.api('POST', '/api/v2/shares/accept', { body: share });
  receiver.habit = answer(500);
  const { webhook } = await create({}, bob.api);
  await launch(project.id);
  await expect.poll(() => receiver.received.length, timeouts).toBe(1);
  await server.api('DELETE', member);
  receiver.habit = answer(200);
  server.clock.advance(hourMs);
  await expect
    .poll(() => deliveriesOf(webhook.id), timeouts)
    .toMatchObject([{ status: 'failed', problem: expect.stringContaining('may no longer see') }]);
  expect(receiver.received).toHaveLength(1);
});
