import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import {
  commitRoutes,
  driftRoutes,
  fileRoutes,
  isEnded,
  launchRoutes,
  projectRoutes,
  recordRoutes,
  runRoutes,
  webhookRoutes,
} from '@phalanx/protocol';
import { type App, defineApp, type View } from '@phalanx/simulated-phone';
import { until } from '@phalanx/host/testing/until';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';

import { Installation } from '../support/installation.ts';
import { findViolations } from './support/axe.ts';
import { closeWindows, openWindow, sharedBrowser, signIn } from './support/browser.ts';
import { hasChromium, story } from './support/story.ts';

const launcher = fileURLToPath(new URL('../../apps/cli/bin/phalanx.mjs', import.meta.url));
const packageName = 'com.example.shop';

/** App with one page, whose button has another ID in another version. */
const shop = (versionName: string, versionCode: number, buttonId: string, hasTerms = false): App =>
  defineApp({
    packageName,
    label: 'Shop',
    icon: '',
    color: '#205080',
    versionName,
    versionCode,
    state: () => ({}),
    activities: {
      '.CheckoutActivity': () => (ui, area) => {
        const part = (className: string, id: string, top: number, label?: string): View => ({
          className,
          packageName,
          resourceId: `${packageName}:id/${id}`,
          text: label,
          frame: { left: 40, top, right: area.right - 40, bottom: top + 120 },
          onTap: className.endsWith('Button') ? () => undefined : undefined,
          children: [],
        });
        return {
          className: 'android.widget.FrameLayout',
          packageName: ui.packageName,
          frame: area,
          children: [
            part('android.widget.TextView', 'order_total', 300, 'Total'),
            part('android.widget.TextView', 'ship_to', 500, 'Ship to'),
            part('android.widget.TextView', 'pay_by', 700, 'Pay by'),
            part('android.widget.Button', buttonId, 900, 'Pay'),
            ...(hasTerms ? [part('android.widget.TextView', 'terms_text', 1100, 'Terms')] : []),
          ],
        };
      },
    },
  });

/** Recognizes the checkout by its button. */
const code = `
await agent.actions.launchApp('${packageName}');
const screen = await agent.actions.waitForText('Total');
const isKnown = (await agent.actions.screenContent()).findById('pay_button') !== null;
await agent.utils.outOfSteps.storeScreen(
  await agent.actions.screenContent(), 'pay', isKnown ? 'Checkout' : 'unknown', 0, ScreenshotRecord.LOW_QUALITY);
await agent.actions.tap(500, 960);
if (!isKnown) await agent.utils.outOfSteps.submit('outOfSteps');
`;

let all: Installation;
let browser: Browser;
const told: unknown[] = [];
const receiver = createServer((request: IncomingMessage, response) => {
  void text(request).then((body) => {
    told.push(JSON.parse(body));
    response.writeHead(200).end();
  });
});

beforeAll(async () => {
  if (!hasChromium) return;
  receiver.listen(0, '127.0.0.2');
  await once(receiver, 'listening');
  all = await Installation.start(1, undefined, { PHALANX_WEBHOOK_NETWORKS: '127.0.0.2/32' });
  browser = await sharedBrowser();
});
afterAll(async () => {
  await closeWindows();
  await all?.stop();
  receiver.close();
});

async function runOnce(deviceId: string, id: string): Promise<void> {
  const body = { device_ids: [deviceId], automationId: id, command: 'start' as const };
  await all.api.call(launchRoutes.launch, { body });
  await until(
    'the run to end',
    async () => (await all.api.call(runRoutes.list, { query: { automation_id: id } })).runs[0],
    (run) => run !== undefined && isEnded(run.status),
  );
}

story(
  'a new version of an app that the code does not know is told of, and shown with what has changed',
  async () => {
    const [phone] = all.phones;
    const [device] = await all.readyDevices();
    if (phone === undefined || device === undefined) throw new Error('there is a phone');
    phone.android.updateApp(shop('8.1.1', 811, 'pay_button'));
    phone.android.properties.set('persist.sys.locale', 'de-DE');
    const { project } = await all.api.call(projectRoutes.create, { body: { name: 'Pays' } });
    const params = { id: project.id };
    await all.api.call(fileRoutes.write, { params, body: { path: 'main.ts', content: code } });
    await all.api.call(commitRoutes.commit, { params, body: { message: 'pays' } });
    const { port } = receiver.address() as AddressInfo;
    const url = `http://127.0.0.2:${port}/hook`;
    await all.api.call(webhookRoutes.create, { body: { url, events: ['drift.found'] } });

    const { page, problems } = await openWindow(browser);
    await signIn(page, all.url, all.callerSettings['PHALANX_TOKEN'] ?? '');
    await page.goto(`${all.url}/projects/${project.id}`);
    await page.getByRole('link', { name: 'App versions' }).click();
    await page.getByText('No app versions yet').waitFor();
    expect(await findViolations(page)).toEqual([]);

    for (let runs = 0; runs < 7; runs += 1) await runOnce(device.device_id, project.id);
    phone.android.updateApp(shop('8.1.2', 812, 'pay_now'));
    for (let runs = 0; runs < 5; runs += 1) await runOnce(device.device_id, project.id);
    await until(
      'the message',
      async () => told,
      (messages) => messages.length === 1,
    );
    expect(told).toMatchObject([
      {
        type: 'drift.found',
        data: {
          version: '8.1.2',
          version_before: '8.1.1',
          runs: 5,
          bad_runs: 5,
          runs_before: 7,
          bad_runs_before: 0,
        },
      },
    ]);

    const figures = await until(
      'the group',
      async () => (await all.api.call(driftRoutes.get, { params })).versions,
      ([newest]) => newest !== undefined && newest.groups === 1,
    );
    expect(figures).toMatchObject([
      { version: '8.1.2', runs: 5, bad_runs: 5, records: 5, drift: { by: 'failing' } },
      { version: '8.1.1', runs: 7, bad_runs: 0, records: 0, drift: null },
    ]);
    await page.reload();
    await page.getByRole('cell', { name: /known worse than 8\.1\.1/ }).waitFor();
    await page.getByText('5 of 5, 100 %').waitFor();
    expect(await findViolations(page)).toEqual([]);

    const { stdout } = await promisify(execFile)(process.execPath, [launcher, 'drift', 'Pays'], {
      env: { ...process.env, ...all.callerSettings },
    });
    expect(stdout).toMatch(/8\.1\.2\s+5\s+5 \(100 %\).*worse than 8\.1\.1/);
    expect(stdout).toContain(`New with ${packageName} 8.1.2:`);

    // The record names the app and marks the touched point.
    const { result } = await all.api.call(recordRoutes.list, { query: { automation_id: project.id } });
    expect(result?.app).toEqual({
      package: packageName,
      activity: `${packageName}.CheckoutActivity`,
      version: '8.1.2',
      language: 'de-DE',
    });
    await page
      .getByRole('link', { name: 'Ship' })
      .or(page.getByRole('region', { name: /New with/ }).getByRole('link'))
      .first()
      .click();
    await page.getByText('App versions 8.1.2 (5 records)').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.goto(`${all.url}/records?status=any&record=${result?.out_of_steps_id ?? ''}`);
    await page.getByText(`${packageName} 8.1.2 · CheckoutActivity · in de-DE`).waitFor();
    await page.getByRole('list', { name: 'Done on this screen' }).getByText('tap at 500, 960').waitFor();
    await page.locator('[data-mark="1"]').waitFor({ state: 'attached' });
    expect(await findViolations(page)).toEqual([]);
    expect(problems).toEqual([]);
  },
);
