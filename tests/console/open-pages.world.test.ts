import type { Page } from 'playwright-core';
import { expect } from 'vitest';

import { openWindow, signIn } from './support/browser.ts';
import { fillService, type Places } from './support/fill-service.ts';
import { stage } from './support/stage.ts';
import { story } from './support/story.ts';

const here = stage(3);

const failingCode = `await agent.actions.launchApp('dev.phalanx.sample.form');
await agent.actions.waitForText('Registration');
await agent.actions.waitForText('Never there', { timeoutMs: 3000 });`;

/** Maximum refetch interval in ms: statistics are refetched every minute, everything else sooner. */
const maxRefreshMs = 60_000;

/** Removes parts that change with time alone. */
const withoutAges = (text: string): string =>
  text.replaceAll(/\b\d+ (s|m|h)\b/g, '# $1').replace(/(Last confirmed\s+)[\d:]+/, '$1#');

/** Returns the texts of the page and the number of its loaded pictures. */
async function shownBy(page: Page): Promise<{ text: string; pictures: number }> {
  const text = withoutAges(await page.getByRole('main').innerText());
  const pictures = await page
    .getByRole('main')
    .locator('img')
    .evaluateAll((all) => all.filter((image) => (image as HTMLImageElement).naturalWidth > 0).length);
  return { text, pictures };
}

/** Expects that a window that was open all the time eventually shows the same as one opened now. */
async function expectAsReloaded(page: Page, fresh: Page): Promise<void> {
  await fresh.goto(page.url());
  await fresh.getByRole('main').waitFor();
  const { pathname, search } = new URL(page.url());
  await expect
    .poll(
      async () => {
        const [open, reloaded] = [await shownBy(page), await shownBy(fresh)];
        return JSON.stringify(open) === JSON.stringify(reloaded)
          ? 'the same'
          : { page: `${pathname}${search}`, open, reloaded };
      },
      { timeout: maxRefreshMs + 20_000, interval: 1000 },
    )
    .toBe('the same');
}

story('a run that is watched while it fails shows its records and its last screen', async () => {
  const [deviceId = ''] = await here.service.readyDevices(3);
  const project = await here.service.createProject('Watched', { 'main.ts': failingCode });
  await here.service.call('POST', '/api/v2/devices/launchAutomation', {
    automationId: project,
    command: 'start',
    device_ids: [deviceId],
  });
  const { runs } = await here.service.call('GET', `/api/v2/runs?automation_id=${project}`);
  const [run] = runs as { run_id: string }[];
  const { page, context, problems } = await openWindow(here.browser);
  await signIn(page, here.service.url, here.service.token);
  await page.goto(`${here.service.url}/runs/${run?.run_id ?? ''}`);
  await here.service.untilRunEnded(project);
  await page.getByRole('heading', { name: 'Records' }).waitFor();
  await page
    .getByRole('main')
    .getByRole('img', { name: /^Last screen/ })
    .waitFor();
  await page.getByRole('region', { name: 'Screen of the step' }).getByRole('img').first().waitFor();
  await expectAsReloaded(page, await context.newPage());
  expect(problems).toEqual([]);
});

const addresses = ({ deviceId, projectId, runId }: Places): readonly string[] => [
  '/start',
  '/devices',
  `/devices/${deviceId}?tab=about`,
  '/runs',
  `/runs/${runId}`,
  '/stats',
  '/jobs',
  '/projects',
  `/projects/${projectId}?file=main.ts`,
  `/projects/${projectId}/replays`,
  `/projects/${projectId}/versions`,
  '/groups',
  '/records?status=any',
  '/settings/tokens',
  '/settings/users',
  '/settings/hosts',
  '/settings/usage',
  '/settings/audit',
  '/settings/webhooks',
];

/** Creates, changes or removes an object of each kind that pages show, as another user. */
async function changeEverything({ deviceId, projectId }: Places): Promise<void> {
  const { service } = here;
  const change = (method: string, address: string, body?: Record<string, unknown>) =>
    service.call(method, `/api/v2${address}`, body);
  await change('PATCH', `/devices/${deviceId}`, { name: 'Renamed phone' });
  await change('PUT', `/devices/${deviceId}/labels`, { labels: { shelf: 'changed' } });
  await change('PATCH', `/automation-project/${projectId}`, { name: 'Renamed project' });
  await service.writeFile(projectId, 'lib/added.ts', 'export const added = 1;\n');
  await change('POST', `/automation/commit/${projectId}`, { message: 'Something is added' });
  const failing = await service.createProject('Made meanwhile', { 'main.ts': failingCode });
  await service.launch(deviceId, failing);
  const { runs } = await change('GET', `/runs?automation_id=${failing}`);
  expect(runs).toMatchObject([{ status: 'failed' }]);
  await change('POST', '/jobs', { automation_id: failing, selector: 'shelf = changed', retries: 0 });
  const times = { cron: '0 3 * * *', time_zone: 'Europe/Zurich', name: 'Made meanwhile' };
  await change('POST', '/schedules', { ...times, automation_id: projectId, selector: 'shelf = changed' });
  await change('PUT', '/pools/changed-shelf', { selector: 'shelf = changed' });
  await change('POST', '/tokens', { name: 'made meanwhile', scopes: ['read'] });
  await change('POST', '/users', { name: 'made-meanwhile' });
  const receiver = { name: 'Made meanwhile', url: 'https://receiver.example/other', paused: true };
  await change('POST', '/webhooks', { ...receiver, events: ['run.ended'] });
}

story('every page that is open while things change shows in the end what a reload shows', async () => {
  const places = await fillService(here.service);
  const { page: first, context, problems } = await openWindow(here.browser);
  await signIn(first, here.service.url, here.service.token);
  const open: Page[] = [];
  for (const address of addresses(places)) {
    // A browser has six connections for all pages of a window, and each page keeps one open for its events.
    const window = await openWindow(here.browser, { storageState: await context.storageState() });
    await window.page.goto(`${here.service.url}${address}`);
    await window.page.getByRole('main').waitFor();
    open.push(window.page);
  }
  await changeEverything(places);
  const fresh = await context.newPage();
  for (const page of open) await expectAsReloaded(page, fresh);
  expect(problems).toEqual([]);
});
