import { readFile } from 'node:fs/promises';
import { until } from '@phalanx/host/testing/until';
import { fileRoutes, jobRoutes, projectRoutes, scheduleRoutes, type Task } from '@phalanx/protocol';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';

import { Installation } from '../support/installation.ts';
import { findViolations } from './support/axe.ts';
import { closeWindows, openWindow, sharedBrowser, signIn } from './support/browser.ts';
import { hasChromium, story } from './support/story.ts';

const rows = 40;
/** Its phone dies while it runs. */
const slow = `Person ${rows / 2}`;
/** On a machine that is busy with other things. */
const tableMs = 400_000;

/** Until the next turn of a schedule of each minute is over. */
const turnMs = 90_000;

const code = `const { name } = agent.arguments.jobVariables as { name: string };
if (name === 'Bad') throw new Error('no such person');
if (name === '${slow}') await agent.actions.sleep(5000);
await agent.actions.screenContent();
agent.control.setResult({ greeting: 'Hello ' + name });`;

let installation: Installation;
let browser: Browser;
beforeAll(async () => {
  if (!hasChromium) return;
  installation = await Installation.start(3);
  browser = await sharedBrowser();
});
afterAll(async () => {
  await closeWindows();
  await installation?.stop();
});

const poolRow = (page: Page, name: string): Locator =>
  page
    .getByRole('region', { name: 'Pools' })
    .getByRole('row')
    .filter({ has: page.getByRole('link', { name, exact: true }) });

async function requireAccessible(page: Page): Promise<void> {
  for (const width of [390, 1280])
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme });
      expect(await findViolations(page), `${width} ${colorScheme}`).toEqual([]);
    }
}

/** Ends the phone on which that row runs. Returns the row as it was then. */
async function killPhoneOf(jobId: string, name: string): Promise<Task> {
  const { api, phones } = installation;
  const find = async (): Promise<Task | undefined> => {
    const { tasks } = await api.call(jobRoutes.listTasks, { params: { id: jobId }, query: { limit: 1000 } });
    return tasks.find(({ input }) => input?.['name'] === name);
  };
  const task = await until(`${name} to run`, find, (now) => now?.status === 'running', tableMs);
  const device = (await installation.listDevices()).find(({ device_id: id }) => id === task?.device_id);
  const phone = phones.find(({ serial }) => serial === device?.serial);
  if (task === undefined || phone === undefined) throw new Error(`there is no phone of ${name}`);
  await phone.stop();
  return task;
}

story(
  'a table of 40 rows: a phone dies, a row fails twice, it is exported; a schedule is skipped and paused',
  async () => {
    const { api, url, callerSettings } = installation;
    const { project } = await api.call(projectRoutes.create, { body: { name: 'Greet' } });
    const main = { path: 'main.ts', content: code };
    await api.call(fileRoutes.write, { params: { id: project.id }, body: main });
    const { page, problems } = await openWindow(browser);
    await signIn(page, url, callerSettings['PHALANX_TOKEN'] ?? '');
    await page.goto(`${url}/jobs`);
    const dialog = page.getByRole('dialog');

    for (const name of ['all', 'night']) {
      await page.getByRole('button', { name: 'New pool…' }).click();
      await dialog.getByLabel('Name').fill(name);
      await dialog.getByLabel('Selector').fill('sdk>=1');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await poolRow(page, name).filter({ hasText: '3 of 3 ready' }).waitFor();
    }

    await page.getByRole('button', { name: 'New schedule…' }).click();
    await dialog.getByLabel('Project').selectOption({ label: 'Greet' });
    await dialog.getByLabel('Phones').fill('pool=night');
    await dialog.getByLabel('Times').fill('* * * * *');
    await dialog.getByLabel('Time zone', { exact: true }).fill('Europe/Nowhere');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText(/cannot be used/).waitFor();
    await dialog.getByLabel('Time zone', { exact: true }).fill('Europe/Berlin');
    await dialog.getByText('Phone settings').click();
    await dialog.getByLabel('Brightness').fill('300');
    await dialog.getByText('This has to be a whole number from 0 to 255.').waitFor();
    await dialog.getByLabel('Brightness').fill('40');
    await dialog.getByRole('button', { name: 'Create' }).click();
    const schedule = page.getByRole('row').filter({ hasText: 'Europe/Berlin' });
    await schedule.waitFor();
    const [made] = (await api.call(scheduleRoutes.list)).schedules;
    expect(made?.work).toMatchObject({ phone_settings: { brightness: 40 } });
    // Before its first turn, which comes while the table runs.
    await poolRow(page, 'night').getByRole('button', { name: 'Delete pool night' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await poolRow(page, 'night').waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'New job…' }).click();
    await dialog.getByLabel('Project').selectOption({ label: 'Greet' });
    await dialog.getByLabel('Phones').fill('pool=all');
    const names = Array.from({ length: rows - 1 }, (_, at) => `Person ${at}`);
    const table = ['name', ...names, 'Bad'].join('\n');
    await dialog
      .getByLabel('Inputs')
      .setInputFiles({ name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(table) });
    expect(await findViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.waitForURL(/\/jobs\/[0-9a-f-]+$/);
    const jobId = page.url().split('/').at(-1) ?? '';
    const before = await killPhoneOf(jobId, slow);
    const readJob = async () => (await api.call(jobRoutes.get, { params: { id: jobId } })).job;
    await until('the end of the job', readJob, ({ ended_at }) => ended_at !== null, tableMs);
    await page.getByText(`${rows - 1} completed, 1 failed`).waitFor();
    await page.getByRole('cell', { name: 'no such person' }).waitFor();
    await page.getByRole('button', { name: 'Resume 1' }).click();
    const bad = page.getByRole('row').filter({ hasText: 'no such person' });
    await bad.getByRole('link', { name: '2', exact: true }).waitFor();
    await page.getByText(`${rows - 1} completed, 1 failed`).waitFor();
    await requireAccessible(page);
    const params = { id: jobId };
    const { tasks } = await api.call(jobRoutes.listTasks, { params, query: { limit: 1000 } });
    const [lost, ...others] = tasks.find(({ id }) => id === before.id)?.attempts ?? [];
    expect(lost).toMatchObject({ run_id: before.run_id, reason: expect.stringMatching(/^(phone|lost): /) });
    expect(others.at(-1)).toMatchObject({ reason: 'completed' });
    expect(others.at(-1)?.device_id).not.toBe(before.device_id);
    const last = (await installation.listDevices()).find((one) => one.device_id === others.at(-1)?.device_id);
    await page
      .getByRole('row')
      .filter({ hasText: `"${slow}"` })
      .getByText(`· ${last?.serial}`)
      .waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Results as CSV' }).click();
    const text = await readFile(await (await download).path(), 'utf8');
    expect(text.split('\r\n')).toHaveLength(rows + 2);
    for (const name of names) expect(text).toContain(`${name},Hello ${name}\r\n`);

    await page.goto(`${url}/jobs`);
    await page.getByRole('button', { name: 'New job…' }).click();
    await dialog.getByLabel('Project').selectOption({ label: 'Greet' });
    await dialog.getByText('Record video').click();
    await dialog.getByText('Phone settings').click();
    await dialog.getByLabel('Brightness').fill('40');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByText('Each run has a film. Phone settings: brightness 40.').waitFor();

    await page.goto(`${url}/jobs`);
    await schedule.getByRole('button', { name: 'Turns' }).click();
    await dialog.getByText('skipped: ', { exact: false }).first().waitFor({ timeout: turnMs });
    await dialog.getByText('you have no pool "night"').first().waitFor();
    await requireAccessible(page);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await schedule.getByRole('button', { name: 'Pause' }).click();
    await schedule.getByRole('button', { name: 'Resume' }).waitFor();
    await schedule.getByRole('button', { name: /^Delete schedule / }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    expect((await api.call(scheduleRoutes.list)).schedules).toHaveLength(1);
    await schedule.getByRole('button', { name: /^Delete schedule / }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await schedule.waitFor({ state: 'detached' });
    await requireAccessible(page);
    expect(problems).toEqual([]);
  },
  600_000,
);
