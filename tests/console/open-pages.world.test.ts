import type { Page } from 'playwright-core';
import { expect } from 'vitest';

import { openWindow, signIn } from './support/browser.ts';
import { stage } from './support/stage.ts';
import { story } from './support/story.ts';

const here = stage(1);

const failing = `await agent.actions.launchApp('dev.phalanx.sample.form');
await agent.actions.waitForText('Registration');
await agent.actions.waitForText('Never there', { timeoutMs: 3000 });`;

/** Without what the clock alone changes. */
const withoutAges = (text: string): string => text.replaceAll(/\b\d+ (s|m|h)\b/g, '# $1');

/** The texts of the page, and how many of its pictures are there. */
async function shownBy(page: Page): Promise<{ text: string; pictures: number }> {
  const text = withoutAges(await page.getByRole('main').innerText());
  const pictures = await page
    .getByRole('main')
    .locator('img')
    .evaluateAll((all) => all.filter((image) => (image as HTMLImageElement).naturalWidth > 0).length);
  return { text, pictures };
}

/** A window that was open beside one that is opened now: in the end they show the same. */
async function expectAsReloaded(page: Page, fresh: Page): Promise<void> {
  await fresh.goto(page.url());
  await fresh.getByRole('main').waitFor();
  await expect
    .poll(
      async () => {
        const [open, reloaded] = [await shownBy(page), await shownBy(fresh)];
        return JSON.stringify(open) === JSON.stringify(reloaded) ? 'the same' : { open, reloaded };
      },
      { timeout: 20_000, interval: 500 },
    )
    .toBe('the same');
}

story('a run that is watched while it fails shows its records and its last screen', async () => {
  const [deviceId = ''] = await here.service.readyDevices(1);
  const project = await here.service.createProject('Watched', { 'main.ts': failing });
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
