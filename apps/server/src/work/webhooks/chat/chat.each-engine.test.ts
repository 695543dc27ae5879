import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Webhook, WebhookDelivery } from '@phalanx/protocol';
import { Webhook as Checker } from 'standardwebhooks';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';

import { TestProject } from '../../../code/projects/testing/test-projects.ts';
import type { TestHost } from '../../../testing/test-host.ts';
import { TestServer } from '../../../testing/test-server.ts';
import { answer, Receiver } from '../testing/receiver.ts';

const webhooks = Compile(Webhook);
const deliveryLists = Compile(Type.Array(WebhookDelivery));
const timeouts = { timeout: 30_000, interval: 50 };

let folder: string;
let server: TestServer;
let host: TestHost;
let deviceId: string;
let receiver: Receiver;
let made: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'phalanx-chat-'));
  server = await TestServer.start({
    ackTimeoutMs: 10_000,
    sweepMs: 300,
    settings: {
      PHALANX_WEBHOOK_NETWORKS: '127.0.0.2/32',
      PHALANX_SECRETS_KEY_FILE: path.join(folder, 'secrets.key'),
      PHALANX_PUBLIC_URL: 'https://phones.example',
      // Nothing is sent there.
      PHALANX_SMTP_URL: 'smtp://127.0.0.1:9?tls=none',
      PHALANX_MAIL_FROM: 'phalanx@service.example',
      PHALANX_MAIL_TO: 'example.com',
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
});
afterEach(async () => {
  for (const id of made) await server.api('DELETE', `/api/v2/webhooks/${id}`);
  made = [];
  await receiver.close();
});

async function create(format: Webhook['format']): Promise<{ webhook: Webhook; secret: string }> {
  const body = { url: `${receiver.url}/T0/B0/key-of-the-chat`, format, events: ['run.ended'] };
  const reply = await server.api('POST', '/api/v2/webhooks', { body });
  const { webhook, secret } = reply.body;
  if (!webhooks.Check(webhook)) throw new Error(reply.text);
  made.push(webhook.id);
  return { webhook, secret: String(secret) };
}
async function statusesOf(id: string): Promise<string[]> {
  const { body, text } = await server.api('GET', `/api/v2/webhooks/${id}/deliveries`);
  if (!deliveryLists.Check(body['deliveries'])) throw new Error(text);
  return body['deliveries'].map(({ status }) => status);
}
async function run(automationId: string): Promise<string> {
  const body = { device_ids: [deviceId], automationId, command: 'start' };
  const { status, text } = await server.api('POST', '/api/v2/devices/launchAutomation', { body });
  if (status !== 200) throw new Error(text);
  return host.messages('launch').at(-1)?.runs[0]?.run_id ?? '';
}
async function projectCalled(name: string): Promise<string> {
  const project = await TestProject.create(server.api);
  await project.put('main.ts', 'console.log(1);');
  await server.api('PATCH', `/api/v2/automation-project/${project.id}`, { body: { name } });
  return project.id;
}

it.each([
  ['slack', 'A run of “&lt;!channel&gt; Sign up in FORMAT” was successful on'],
  ['teams', 'A run of “<!channel> Sign up in FORMAT” was successful on'],
] as const)('%s gets a signed sentence, with a link and without its own key', async (format, sentence) => {
  const { webhook, secret } = await create(format);
  expect(webhook.format).toBe(format);
  const runId = await run(await projectCalled(`<!channel> Sign up in ${format}`));
  await expect.poll(() => receiver.received.length, timeouts).toBe(1);
  const [received] = receiver.received;
  expect(received?.text).toContain(sentence.replace('FORMAT', format));
  expect(received?.text).toContain(`https://phones.example/runs/${runId}`);
  expect(received?.text).not.toContain('key-of-the-chat');
  expect(received?.headers['content-type']).toBe('application/json');
  expect(() => new Checker(secret).verify(received?.text ?? '', received?.signed ?? {})).not.toThrow();
  await expect.poll(() => statusesOf(webhook.id), timeouts).toEqual(['delivered']);
});

it('a chat that asks for a pause gets one message of all that has happened meanwhile', async () => {
  receiver.habit = answer(429, { 'retry-after': '60' });
  const project = await projectCalled('Sign up');
  const { webhook } = await create('slack');
  for (let count = 0; count < 10; count += 1) await run(project);
  await expect.poll(() => statusesOf(webhook.id), timeouts).toHaveLength(10);
  const isSettled = async (): Promise<boolean> => {
    const { body } = await server.api('GET', `/api/v2/webhooks/${webhook.id}/deliveries`);
    return (
      deliveryLists.Check(body['deliveries']) &&
      body['deliveries'].every(({ next_attempt_at: at }) => at !== null && at > server.clock.now())
    );
  };
  await expect.poll(isSettled, timeouts).toBe(true);
  receiver.habit = answer(200);
  const before = receiver.received.length;
  server.clock.advance(61_000);
  await expect
    .poll(() => statusesOf(webhook.id), timeouts)
    .toEqual(Array.from({ length: 10 }, () => 'delivered'));
  expect(receiver.received.slice(before)).toHaveLength(1);
  expect(receiver.received.at(-1)?.text).toContain('4 more messages');
});

it('a webhook changes from one format to another, and an e-mail has none', async () => {
  const { webhook } = await create('phalanx');
  const address = `/api/v2/webhooks/${webhook.id}`;
  const { body } = await server.api('PATCH', address, { body: { format: 'teams' } });
  expect(body).toMatchObject({ webhook: { format: 'teams', url: webhook.url } });
  await server.api('POST', `${address}/test`);
  await expect.poll(() => receiver.received.length, timeouts).toBe(1);
  expect(receiver.received[0]?.text).toContain('This is a test.');
  const mail = { url: 'mailto:ada@example.com', events: ['run.ended'], format: 'slack' };
  expect((await server.api('POST', '/api/v2/webhooks', { body: mail })).body).toMatchObject({
    code: 'invalid_webhook',
    message: expect.stringContaining('e-mails have no format slack'),
  });
});
