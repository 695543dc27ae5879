import { freePort } from '@phalanx/simulated-phone/testing/free-port';
import { Webhook as Checker } from 'standardwebhooks';
import { afterAll, beforeAll, expect } from 'vitest';

import { MailServer } from '../../apps/server/src/work/webhooks/testing/mail-server.ts';
import { answer, Receiver } from '../../apps/server/src/work/webhooks/testing/receiver.ts';
import { findViolations } from './support/axe.ts';
import { openWindow, signIn } from './support/browser.ts';
import { stage } from './support/stage.ts';
import { story } from './support/story.ts';

let receiver: Receiver;
let mails: MailServer;
const mailPort = await freePort();
const here = stage(1, {
  PHALANX_WEBHOOK_NETWORKS: '127.0.0.2',
  PHALANX_SMTP_URL: `smtp://127.0.0.1:${mailPort}?tls=none`,
  PHALANX_MAIL_FROM: 'phalanx@service.example',
  PHALANX_MAIL_TO: 'example.com',
});
beforeAll(async () => {
  receiver = await Receiver.start();
  mails = await MailServer.start({}, mailPort);
});
afterAll(() => Promise.all([receiver.close(), mails.close()]));

story(
  'a webhook: made, its secret shown once, a delivery that fails and is replayed, paused, deleted',
  async () => {
    const [deviceId = ''] = await here.service.readyDevices(1);
    const code = "throw new Error('no such person');";
    const projectId = await here.service.createProject('Breaks', { 'main.ts': code });
    const { page, problems } = await openWindow(here.browser);
    await signIn(page, here.service.url, here.service.token);
    await page.goto(`${here.service.url}/settings`);
    await page.getByRole('link', { name: 'Webhooks' }).click();
    const dialog = page.getByRole('dialog');

    await page.getByRole('button', { name: 'New webhook…' }).click();
    await dialog.getByLabel('Name').fill('Failures');
    await dialog.getByLabel('Address').fill('http://169.254.169.254/latest');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText(/no public address/).waitFor();
    await dialog.getByLabel('Address').fill(receiver.url);
    await dialog.getByLabel('A phone has not been ready for a while').check();
    await dialog.getByRole('textbox', { name: 'Not ready for' }).fill('15');
    expect(await findViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Create' }).click();
    const secret = (await dialog.locator('code').textContent()) ?? '';
    expect(secret).toMatch(/^whsec_/);
    expect(await findViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Done' }).click();
    expect(await page.getByText(secret).count()).toBe(0);

    receiver.habit = answer(500);
    await here.service.launch(deviceId, projectId);
    const row = page.getByRole('row').filter({ hasText: 'Failures' });
    await row.getByText('failing').waitFor();
    await row.getByRole('button', { name: 'Deliveries' }).click();
    await dialog.getByText('status 500').waitFor();
    expect(await findViolations(page)).toEqual([]);
    receiver.habit = answer(200);
    await dialog.getByRole('button', { name: 'Send now' }).click();
    await dialog.getByText('delivered').waitFor();
    await dialog.getByRole('button', { name: 'Replay' }).click();
    await expect.poll(() => receiver.received.length).toBeGreaterThan(2);
    for (const { text, signed } of receiver.received) new Checker(secret).verify(text, signed);
    expect(new Set(receiver.received.map(({ signed }) => signed['webhook-id'])).size).toBe(1);
    await dialog.getByRole('button', { name: 'Send a test' }).click();
    await dialog.getByText('webhook.test').waitFor();
    await page.keyboard.press('Escape');

    await row.getByRole('button', { name: 'Edit…' }).click();
    await dialog.getByLabel('Too many runs are failing').check();
    await dialog.getByLabel('Nothing has run for a while').check();
    await dialog.getByRole('textbox', { name: 'Runs without success' }).fill('120');
    const reason = await dialog.getByRole('button', { name: 'Save' }).getAttribute('title');
    expect(reason).toContain('from 1 to 100');
    await dialog.getByRole('textbox', { name: 'Runs without success' }).fill('20');
    await dialog.getByRole('textbox', { name: 'Nothing ran for' }).fill('6');
    expect(await findViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await row.getByText('runs.none').waitFor();
    const { webhooks } = await here.service.call('GET', '/api/v2/webhooks');
    expect(webhooks).toMatchObject([
      { failing_percent: 20, failing_hours: 24, silent_hours: 6, not_ready_minutes: 15 },
    ]);

    await row.getByRole('button', { name: 'New secret…' }).click();
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText(/^whsec_/).waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await row.getByRole('button', { name: 'Pause' }).click();
    await row.getByText('paused').waitFor();
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await findViolations(page), `at ${width}`).toEqual([]);
    }
    await row.getByRole('button', { name: 'Delete…' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('A webhook sends a message').waitFor();
    expect(problems).toEqual([]);
  },
);

story(
  'a chat: its address proposes the format, a test is a sentence, and its key is shown nowhere',
  async () => {
    const { page, problems } = await openWindow(here.browser);
    await signIn(page, here.service.url, here.service.token);
    await page.goto(`${here.service.url}/webhooks`);
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'New webhook…' }).click();
    await dialog.getByLabel('Name').fill('To the channel');
    const format = dialog.getByLabel('Format');
    for (const [address, proposed] of [
      ['https://hooks.slack.com/services/T0/B0/KEY', 'slack'],
      ['https://prod-1.westeurope.logic.azure.com/workflows/ID?sig=KEY', 'teams'],
      ['https://receiver.example/phalanx', 'phalanx'],
    ] as const) {
      await dialog.getByLabel('Address').fill(address);
      expect(await format.inputValue(), address).toBe(proposed);
    }
    await dialog.getByLabel('Address').fill(`${receiver.url}/KEY`);
    await format.selectOption('Slack');
    expect(await dialog.getByLabel('Signature').count()).toBe(0);
    expect(await findViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Create' }).click();
    const row = page.getByRole('row').filter({ hasText: 'To the channel' });
    await row.getByText('Slack: 127.0.0.2').waitFor();
    expect(await dialog.count()).toBe(0);
    expect(await page.content()).not.toContain('KEY');
    receiver.habit = answer(200);
    await row.getByRole('button', { name: 'Deliveries' }).click();
    await dialog.getByRole('button', { name: 'Send a test' }).click();
    await dialog.getByText('delivered').waitFor();
    expect(receiver.received.at(-1)?.text).toContain('This is a test.');
    const { webhooks } = await here.service.call('GET', '/api/v2/webhooks');
    for (const { id } of webhooks as { id: string }[])
      await here.service.call('DELETE', `/api/v2/webhooks/${id}`, {});
    expect(problems).toEqual([]);
  },
);

story('an e-mail: an address that nobody allows, one that is, a run that fails is told in it', async () => {
  const [deviceId = ''] = await here.service.readyDevices(1);
  const code = "throw new Error('no such person');";
  const projectId = await here.service.createProject('Signs up', { 'main.ts': code });
  const { page, problems } = await openWindow(here.browser);
  await signIn(page, here.service.url, here.service.token);
  await page.goto(`${here.service.url}/webhooks`);
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'New webhook…' }).click();
  await dialog.getByLabel('Name').fill('Mail to Ada');
  await dialog.getByLabel('Address').fill('ada@example.org');
  expect(await dialog.getByLabel('Signature').count()).toBe(0);
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByText(/may not receive e-mails/).waitFor();
  await dialog.getByLabel('Address').fill('ada@example.com');
  expect(await findViolations(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Create' }).click();
  const row = page.getByRole('row').filter({ hasText: 'Mail to Ada' });
  await row.getByText('ada@example.com').waitFor();
  expect(await dialog.count()).toBe(0);
  expect(await row.getByRole('button', { name: 'New secret…' }).count()).toBe(0);

  await here.service.launch(deviceId, projectId);
  await row.getByText('ok').waitFor();
  expect(mails.received).toMatchObject([{ to: ['ada@example.com'] }]);
  const link = /http\S+\/runs\/\S+/.exec(mails.received[0]?.text ?? '')?.[0] ?? '';
  expect(mails.received[0]?.text).toContain('no such person');
  await row.getByRole('button', { name: 'Deliveries' }).click();
  await dialog.getByText('delivered').waitFor();
  expect(await findViolations(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  // Another user deletes it: the click fails, and the notice is readable for everyone.
  const { webhooks } = await here.service.call('GET', '/api/v2/webhooks');
  for (const { id } of webhooks as { id: string }[])
    await here.service.call('DELETE', `/api/v2/webhooks/${id}`, {});
  await row.getByRole('button', { name: 'Pause' }).click();
  await page
    .getByRole('dialog')
    .getByText(/not found/)
    .waitFor();
  expect(await findViolations(page)).toEqual([]);
  await page.goto(link);
  await page.getByText('no such person').first().waitFor();
  expect(problems).toEqual([]);
});
