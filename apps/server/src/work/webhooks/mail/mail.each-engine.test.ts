import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook, WebhookDelivery } from '@phalanx/protocol';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';

import { TestProject } from '../../../code/projects/testing/test-projects.ts';
import type { ApiCaller } from '../../../testing/api-caller.ts';
import type { TestHost } from '../../../testing/test-host.ts';
import { isOneServer } from '../../../testing/engines/test-database.ts';
import { TestServer } from '../../../testing/test-server.ts';
import { MailServer, smtpError } from '../testing/mail-server.ts';
import { minuteMs, hourMs } from '@phalanx/timing/durations';

const webhooks = Compile(Webhook);
const deliveryLists = Compile(Type.Array(WebhookDelivery));
const timeouts = { timeout: 30_000, interval: 50 };

let folder: string;
let server: TestServer;
let host: TestHost;
let deviceId: string;
let mails: MailServer;
/** Port of the mail server, even while it is stopped. */
let port: number;
let made: { id: string; api: ApiCaller }[] = [];

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'phalanx-mail-'));
  mails = await MailServer.start();
  port = mails.port;
  server = await TestServer.start({
    ackTimeoutMs: 10_000,
    sweepMs: 300,
    settings: {
      PHALANX_SECRETS_KEY_FILE: path.join(folder, 'secrets.key'),
      PHALANX_SMTP_URL: `smtp://127.0.0.1:${port}?tls=none`,
      PHALANX_MAIL_FROM: 'phalanx@service.example',
      PHALANX_MAIL_TO: 'example.com, bob@example.org',
      PHALANX_PUBLIC_URL: 'https://phones.example',
    },
  });
  ({ host, deviceId } = await server.connectHost({ launchHabit: 'ends_at_once' }));
});
afterAll(async () => {
  await host.cut();
  await server.dispose();
  await mails.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  mails.received.length = 0;
  mails.asked = 0;
  mails.habit = () => undefined;
});
afterEach(async () => {
  for (const { id, api } of made) await api('DELETE', `/api/v2/webhooks/${id}`);
  made = [];
});

/** Number of addresses. Each webhook has its own, so that the pause of another one does not affect it. */
let addresses = 0;
async function create(more: object = {}, api: ApiCaller = server.api): Promise<Webhook> {
  addresses += 1;
  const body = { url: `mailto:ada${addresses}@example.com`, events: ['run.ended'], ...more };
  const reply = await api('POST', '/api/v2/webhooks', { body });
  const { webhook, secret } = reply.body;
  if (!webhooks.Check(webhook)) throw new Error(reply.text);
  expect(secret).toBeNull();
  made.push({ id: webhook.id, api });
  return webhook;
}
async function deliveriesOf(id: string): Promise<WebhookDelivery[]> {
  const { body, text } = await server.api('GET', `/api/v2/webhooks/${id}/deliveries`);
  if (!deliveryLists.Check(body['deliveries'])) throw new Error(text);
  return body['deliveries'];
}
async function find(id: string): Promise<Webhook> {
  const { body, text } = await server.api('GET', `/api/v2/webhooks/${id}`);
  if (!webhooks.Check(body['webhook'])) throw new Error(text);
  return body['webhook'];
}
async function run(): Promise<void> {
  const { status, text } = await server.start(deviceId, crypto.randomUUID());
  if (status !== 200) throw new Error(text);
}
const test = (id: string) => server.api('POST', `/api/v2/webhooks/${id}/test`);
const statusesOf = async (id: string): Promise<string[]> =>
  (await deliveriesOf(id)).map(({ status }) => status);

it('a run that ends is told in plain text, with its project, phone and address', async () => {
  const name = 'Sign “up”';
  const project = await TestProject.create(server.api);
  await project.put('main.ts', 'console.log(1);');
  await server.api('PATCH', `/api/v2/automation-project/${project.id}`, { body: { name } });
  const webhook = await create({ name: 'Nightly' });
  const body = { device_ids: [deviceId], automationId: project.id, command: 'start' };
  await server.api('POST', '/api/v2/devices/launchAutomation', { body });
  await expect.poll(() => mails.received.length, timeouts).toBe(1);
  const [mail] = mails.received;
  const runId = host.messages('launch').at(-1)?.runs[0]?.run_id ?? '';
  expect(mail).toMatchObject({ from: 'phalanx@service.example', to: [webhook.url.replace('mailto:', '')] });
  expect(mail?.headers.get('from')).toBe('Phalanx <phalanx@service.example>');
  expect(mail?.headers.get('subject')).toMatch(/^\[Phalanx\] A run of “.+” was successful on .+$/);
  expect(mail?.headers.get('auto-submitted')).toBe('auto-generated');
  expect(mail?.headers.get('content-type')).toMatch(/^text\/plain/);
  for (const part of [
    `Run: ${runId}`,
    `https://phones.example/runs/${runId}`,
    'Phone: ',
    'serial-1',
    '“Nightly”',
  ])
    expect(mail?.text).toContain(part);
  await expect
    .poll(() => deliveriesOf(webhook.id), timeouts)
    .toMatchObject([{ status: 'delivered', attempts: 1, response_status: 250 }]);
  expect(await find(webhook.id)).toMatchObject({ public_key: null, health: { state: 'ok', waiting: 0 } });
});

it('what comes within five minutes of an e-mail is told in the next one, all together', async () => {
  const webhook = await create();
  await run();
  await expect.poll(() => mails.received.length, timeouts).toBe(1);
  await expect.poll(() => statusesOf(webhook.id), timeouts).toEqual(['delivered']);
  for (let count = 0; count < 60; count += 1) await run();
  await expect.poll(async () => (await find(webhook.id)).health.waiting, timeouts).toBe(60);
  // Several checks by each server.
  await sleep(1000);
  expect(mails.received).toHaveLength(1);
  server.clock.advance(5 * minuteMs);
  await expect.poll(async () => (await find(webhook.id)).health.waiting, timeouts).toBe(0);
  expect(mails.received).toHaveLength(2);
  const [, second] = mails.received;
  expect(second?.headers.get('subject')).toContain(', and 59 more');
  expect(second?.text.match(/https:\/\/phones\.example\/runs\//g)).toHaveLength(50);
  expect(second?.text).toContain('10 more messages are listed');
  expect(new Set(await statusesOf(webhook.id))).toEqual(new Set(['delivered']));
});

it('another webhook of the same user for the same address waits as long, and one of another user does not', async () => {
  const eve = await server.createCaller('eve');
  const first = await create();
  const second = await create({ url: first.url });
  await test(first.id);
  await expect.poll(() => statusesOf(first.id), timeouts).toEqual(['delivered']);
  await test(second.id);
  const third = await create({ url: first.url }, eve.api);
  await eve.api('POST', `/api/v2/webhooks/${third.id}/test`);
  await expect.poll(() => statusesOf(third.id), timeouts).toEqual(['delivered']);
  expect(await statusesOf(second.id)).toEqual(['waiting']);
  server.clock.advance(5 * minuteMs);
  await expect.poll(() => statusesOf(second.id), timeouts).toEqual(['delivered']);
  expect(mails.received.at(-1)?.text).toContain('asked for this e-mail');
});

it('a receiver that is refused for good is not asked again, and a replay asks', async () => {
  mails.habit = () => smtpError(550, 'no such person');
  const webhook = await create();
  await test(webhook.id);
  await expect
    .poll(() => deliveriesOf(webhook.id), timeouts)
    .toMatchObject([{ status: 'failed', attempts: 1, response_status: 550, next_attempt_at: null }]);
  const [delivery] = await deliveriesOf(webhook.id);
  expect(delivery?.problem).toContain('no such person');
  expect(await find(webhook.id)).toMatchObject({ health: { state: 'failing' } });
  mails.habit = () => undefined;
  await server.api('POST', `/api/v2/webhooks/${webhook.id}/deliveries/${delivery?.id}/replay`);
  await expect.poll(() => statusesOf(webhook.id), timeouts).toEqual(['delivered']);
  expect(await find(webhook.id)).toMatchObject({ health: { state: 'ok' } });
});

it('one that is refused for now is asked again, and the pauses grow', async () => {
  mails.habit = () => smtpError(451, 'try again later');
  const webhook = await create();
  await test(webhook.id);
  await expect
    .poll(() => deliveriesOf(webhook.id), timeouts)
    .toMatchObject([{ status: 'waiting', attempts: 1, response_status: 451 }]);
  server.clock.advance(10_000);
  await expect
    .poll(() => deliveriesOf(webhook.id), timeouts)
    .toMatchObject([{ attempts: 2, response_status: 451 }]);
  const next = async (): Promise<number> => (await deliveriesOf(webhook.id))[0]?.next_attempt_at ?? 0;
  await expect.poll(next, timeouts).toBeGreaterThan(server.clock.now() + 4 * minuteMs);
  mails.habit = () => undefined;
  server.clock.advance(6 * minuteMs);
  await expect.poll(() => statusesOf(webhook.id), timeouts).toEqual(['delivered']);
});

it('a mail server that is down loses nothing', async () => {
  await mails.close();
  const webhook = await create();
  await run();
  await expect
    .poll(() => deliveriesOf(webhook.id), timeouts)
    .toMatchObject([
      {
        status: 'waiting',
        attempts: 1,
        response_status: null,
        problem: expect.stringContaining('ECONNREFUSED'),
      },
    ]);
  mails = await MailServer.start({}, port);
  server.clock.advance(hourMs);
  await expect.poll(() => statusesOf(webhook.id), timeouts).toEqual(['delivered']);
  expect(mails.received).toHaveLength(1);
});

it.each([
  ['mailto:eve@evil.example', 'may not receive e-mails'],
  ['mailto:eve@sub.example.com', 'may not receive e-mails'],
  ['mailto:ada@example.com?bcc=eve@evil.example', 'must be mailto: and one'],
  ['mailto:ada@example.com,eve@evil.example', 'must be mailto: and one'],
  ['mailto:ada@example.com%0d%0aBcc:eve@evil.example', 'must be mailto: and one'],
  ['mailto:"ada eve@evil.example"@example.com', 'must be mailto: and one'],
  ['mailto:ada@example.com\r\nBcc: eve@evil.example', 'must be mailto: and one'],
  ['mailto:ada@[127.0.0.1]', 'must be mailto: and one'],
  ['mailto:', 'must be mailto: and one'],
])('%j is sent nothing', async (url, problem) => {
  const reply = await server.api('POST', '/api/v2/webhooks', { body: { url, events: ['run.ended'] } });
  expect(reply.body, reply.text).toMatchObject({ code: 'invalid_webhook' });
  expect(reply.text).toContain(problem);
});

it('names can add no header and no line of their own', async () => {
  const url = 'mailto:ann@example.com';
  const cut = { url, events: ['run.ended'], name: 'Nice\r\nBcc: eve@evil.example\r\n\r\nhello' };
  expect((await server.api('POST', '/api/v2/webhooks', { body: cut })).status).toBe(400);
  const webhook = await create({ name: 'Nice\u2028Bcc: eve@evil.example\u2028\u2028hello' });
  await test(webhook.id);
  await expect.poll(() => mails.received.length, timeouts).toBe(1);
  const [mail] = mails.received;
  expect(mail?.to).toEqual([webhook.url.replace('mailto:', '')]);
  expect([...(mail?.headers.keys() ?? [])]).not.toContain('bcc');
  expect(mail?.text.split(/\r?\n/)).not.toContain('hello');
});

it('an e-mail has no secret to rotate, and can’t become a web address', async () => {
  const webhook = await create();
  const address = `/api/v2/webhooks/${webhook.id}`;
  expect((await server.api('POST', `${address}/secret`)).body).toMatchObject({ code: 'invalid_webhook' });
  const url = 'https://receiver.example/';
  expect((await server.api('PATCH', address, { body: { url } })).body).toMatchObject({
    code: 'invalid_webhook',
  });
  const other = { url: 'mailto:bob@example.org' };
  expect((await server.api('PATCH', address, { body: other })).body).toMatchObject({ webhook: other });
  const { body } = await server.api('GET', '/api/v2/audit?action=create_webhook&limit=1');
  expect(JSON.stringify(body)).toContain(webhook.url.replace('mailto:', ''));
});

it.skipIf(!isOneServer)('tests and replays to one receiver have a rate', async () => {
  const webhook = await create();
  const others = await create();
  const statuses = await Promise.all(Array.from({ length: 14 }, async () => (await test(webhook.id)).status));
  expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0);
  const refused = await test(webhook.id);
  expect(refused.body).toMatchObject({ code: 'too_many_webhook_tests' });
  const [delivery] = await deliveriesOf(webhook.id);
  const replay = await server.api('POST', `/api/v2/webhooks/${webhook.id}/deliveries/${delivery?.id}/replay`);
  expect(replay.status).toBe(429);
  expect((await test(others.id)).status).not.toBe(429);
});
