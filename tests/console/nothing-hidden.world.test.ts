import { prepareConsole } from '@phalanx/console';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';

import { deviceReport } from '../../apps/server/src/testing/host-wire.ts';
import { TestHost } from '../../apps/server/src/testing/test-host.ts';
import { adminToken, TestServer } from '../../apps/server/src/testing/test-server.ts';
import { openWindow, signIn } from './support/browser.ts';
import { fillService } from './support/fill-service.ts';
import { findHiddenThings } from './support/hidden-things.ts';
import { pagesOf } from './support/pages.ts';
import { stage } from './support/stage.ts';
import { hasChromium, story } from './support/story.ts';

const widths = [390, 1280, 1920];
const long = 'a name that somebody has made as long as the names of things tend to become in a large company';
const here = stage(3);

async function lookAt(page: Page, title: string): Promise<string[]> {
  const found: string[] = [];
  for (const width of widths) {
    await page.setViewportSize({ width, height: width < 720 ? 844 : 900 });
    // Waits until the layout for a new size is painted.
    await page.evaluate(
      () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
    );
    found.push(...(await findHiddenThings(page)).map((one) => `${title} ${width}: ${one}`));
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  return found;
}

/** Duplicates the data that the pages show, with long names. */
async function addLongNames(): Promise<void> {
  const [, deviceId = ''] = await here.service.readyDevices(3);
  const call = here.service.call.bind(here.service);
  await call('PATCH', `/api/v2/devices/${deviceId}`, { name: long });
  await call('PUT', `/api/v2/devices/${deviceId}/labels`, {
    labels: {
      country: 'de',
      shelf: 'the-third-shelf-of-the-second-room-on-the-left',
      team: 'checkout-and-payment',
    },
  });
  const projectId = await here.service.createProject(long, {
    'main.ts': `throw new Error(${JSON.stringify(long.repeat(3))});\n`,
  });
  await here.service.launch(deviceId, projectId);
  await call('POST', '/api/v2/tokens', { name: long });
  await call('POST', '/api/v2/users', { name: long });
  await call('PUT', `/api/v2/pools/${encodeURIComponent('a-pool-with-a-long-name-of-forty-letters')}`, {
    selector: 'country=de,shelf=the-third-shelf-of-the-second-room-on-the-left',
  });
  await call('POST', '/api/v2/webhooks', {
    name: long,
    url: `https://receiver.example/${'a-long-way/'.repeat(8)}`,
    events: ['run.ended', 'device.not_ready'],
    paused: true,
  });
}

story(
  'on no page and in no dialog is a text cut without a way to it, or a control out of reach',
  async () => {
    const { page, problems } = await openWindow(here.browser);
    await signIn(page, here.service.url, here.service.token);
    const places = await fillService(here.service);
    await addLongNames();
    const found: string[] = [];
    for (const { title, open } of pagesOf(places)) {
      await open(page, here.service.url);
      found.push(...(await lookAt(page, title)));
    }
    expect(found).toEqual([]);
    expect(problems).toEqual([]);
  },
);

let server: TestServer;
let host: TestHost;

beforeAll(async () => {
  if (!hasChromium) return;
  server = await TestServer.start({ console: prepareConsole() });
  host = new TestHost({ url: server.url, token: adminToken });
  host.devices = Array.from({ length: 1000 }, (_, index) => {
    const serial = `shelf-${String(index).padStart(4, '0')}-of-the-second-room`;
    return index % 5 === 0
      ? deviceReport(serial, {
          state: 'unauthorized',
          reason:
            'It does not trust its host yet: unlock it and allow debugging on its screen, for this computer, always.',
        })
      : deviceReport(serial, { model: `Pixel 9 Pro Fold ${long}` });
  });
  await host.connect();
});
afterAll(async () => {
  await host?.cut();
  await server?.dispose();
});

/** Creates a job of a thousand tasks, schedules and pools, all with long names. Returns the job's ID. */
async function createWork(projectId: string): Promise<string> {
  const { api } = server;
  const selector = 'country=nowhere,shelf=the-third-shelf-of-the-second-room-on-the-left';
  const inputs = Array.from({ length: 1000 }, (_, index) => ({
    customer: `customer ${index} ${long}`,
    place: long,
  }));
  const work = { automation_id: projectId, selector };
  const { body } = await api('POST', '/api/v2/jobs', { body: { ...work, inputs } });
  for (const cron of ['0 2 * * *', '*/7 9-17 * * 1-5']) {
    const schedule = { ...work, cron, time_zone: 'America/Argentina/Buenos_Aires', name: long };
    expect((await api('POST', '/api/v2/schedules', { body: schedule })).status).toBe(201);
  }
  await api('PUT', '/api/v2/pools/pool-of-a-company-with-many-rooms-and-shelves', { body: { selector } });
  return (body['job'] as { id: string }).id;
}

story('lists of a thousand long rows cut nothing without a way to it', async () => {
  const { api } = server;
  const { body } = await api('GET', '/api/v2/devices?limit=1000&selector=state%3Dready');
  const devices = body['devices'] as { device_id: string }[];
  const { body: made } = await api('POST', '/api/v2/automation-project', { body: { name: long } });
  const projectId = (made['project'] as { id: string }).id;
  await api('PUT', `/api/v2/automation/file/${projectId}`, {
    body: { path: 'main.ts', content: 'console.log(1);\n' },
  });
  for (let number = 0; number < 300; number += 1)
    await api('POST', '/api/v2/automation-project', { body: { name: `${number} ${long}` } });
  const launch = {
    device_ids: devices.map(({ device_id: id }) => id),
    automationId: projectId,
    command: 'start',
  };
  expect(await api('POST', '/api/v2/devices/launchAutomation', { body: launch })).toMatchObject({
    status: 200,
  });
  const { page, problems } = await openWindow(here.browser);
  await signIn(page, server.url, adminToken);
  const found: string[] = [];
  const open = async (address: string, words: string): Promise<void> => {
    await page.goto(`${server.url}${address}`);
    await page.getByText(words).filter({ visible: true }).first().waitFor();
  };
  await open('/devices', 'shelf-0000');
  found.push(...(await lookAt(page, 'fleet')));
  await open('/devices?view=wall', 'shelf-0000');
  found.push(...(await lookAt(page, 'wall')));
  await open('/devices?view=wall&pictures=false', 'shelf-0000');
  found.push(...(await lookAt(page, 'wall without pictures')));
  await open('/projects', long);
  found.push(...(await lookAt(page, 'projects')));
  await open('/runs', long);
  await page.getByRole('button', { name: long }).click();
  await page.getByText('Pixel 9 Pro Fold').filter({ visible: true }).first().waitFor();
  found.push(...(await lookAt(page, 'runs')));
  const jobId = await createWork(projectId);
  await open('/jobs', long);
  found.push(...(await lookAt(page, 'jobs')));
  await open(`/jobs/${jobId}`, 'customer 1');
  found.push(...(await lookAt(page, 'job')));
  await open('/jobs/schedules', long);
  found.push(...(await lookAt(page, 'schedules')));
  await open('/jobs/pools', 'pool-of-a-company');
  found.push(...(await lookAt(page, 'pools')));
  expect(found).toEqual([]);
  expect(problems).toEqual([]);
});
