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
/** Name of a row whose phone dies during its run. */
const slow = `Person ${rows / 2}`;
/** Time limit in ms for the table, on a busy machine. */
const tableMs = 400_000;

/** Time in ms that covers the next turn of a schedule that runs every minute. */
const turnMs = 90_000;

const code = `const { name } = agent.arguments.jobVariables as { name: string };
if (name === 'Bad') throw new Error('no such person');
if (name === '${slow}') await agent.actions.sleep(5000);
await agent.actions.screenContent();
const { greeting } = agent.arguments.automationParameters as { greeting: string };
agent.control.setResult({ greeting: greeting + ' ' + name });`;

const schema = JSON.stringify({
  type: 'object',
  properties: { greeting: { type: 'string', title: 'Greeting', default: 'Hello' } },
});

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
    .getByRole('table', { name: 'List of pools' })
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

/** Stops the phone that runs a row. Returns the row's state before. */
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
    const parameters = { path: 'parameters.schema.json', content: schema };
    await api.call(fileRoutes.write, { params: { id: project.id }, body: parameters });
    const { page, problems } = await openWindow(browser);
    await signIn(page, url, callerSettings['PHALANX_TOKEN'] ?? '');
    const dialog = page.getByRole('dialog');

    await page.goto(`${url}/jobs`);
    await page.getByRole('link', { name: 'Pools', exact: true }).click();
    await page.waitForURL(`${url}/jobs/pools`);
    for (const name of ['all', 'night']) {
      await page.getByRole('button', { name: 'New pool…' }).click();
      await dialog.getByLabel('Name').fill(name);
      await dialog.getByLabel('Selector').fill('sdk>=1');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await poolRow(page, name).filter({ hasText: '3 of 3 ready' }).waitFor();
    }

    await page.getByRole('link', { name: 'Schedules', exact: true }).click();
    await page.waitForURL(`${url}/jobs/schedules`);
    await page.getByRole('button', { name: 'New schedule…' }).click();
    expect(await dialog.getByLabel('Project').evaluate((field) => field === document.activeElement)).toBe(
      true,
    );
    await dialog.getByLabel('Project').selectOption({ label: 'Greet' });
    await dialog.getByLabel('Phones', { exact: true }).fill('pool=night');
    await dialog.getByLabel('Time zone', { exact: true }).selectOption('Europe/Berlin');
    const times = dialog.getByLabel('Times', { exact: true });
    await times.fill('61 2 * * *');
    await dialog.getByText(/cannot be used/).waitFor();
    await times.fill('0 2 * * 1-5');
    await dialog.getByText('Runs every Monday to Friday at 02:00. Next:').waitFor();
    expect(
      await dialog
        .getByRole('status', { name: 'Next times' })
        .getByText(/, 02:00 GMT\+/)
        .count(),
    ).toBe(3);
    await dialog.getByLabel('Greeting (optional)').fill('Servus');
    await dialog.getByText('Phone settings').click();
    await dialog.getByLabel('Brightness').fill('300');
    await dialog.getByText('This must be a whole number from 0 to 255.').waitFor();
    await dialog.getByLabel('Brightness').fill('40');
    expect(await findViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Create' }).click();
    const schedule = page.getByRole('row').filter({ hasText: 'Europe/Berlin' });
    await schedule.getByText('every Monday to Friday at 02:00').first().waitFor();
    const readSchedule = async () => (await api.call(scheduleRoutes.list)).schedules[0];
    const work = { parameters: { greeting: 'Servus' }, phone_settings: { brightness: 40 } };
    expect(await readSchedule()).toMatchObject({ work });

    await schedule.getByRole('button', { name: /^History of / }).click();
    await dialog.getByText('This schedule has not run yet.').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await schedule.getByRole('button', { name: /^Edit / }).click();
    await dialog.getByLabel('Name', { exact: true }).fill('Nightly');
    await dialog.getByText('Phone settings').click();
    await dialog.getByLabel('Brightness').fill('');
    await dialog.getByLabel('Greeting (optional)').fill('Moin');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await schedule.filter({ hasText: 'Nightly' }).waitFor();
    expect(await readSchedule()).toMatchObject({
      name: 'Nightly',
      work: { parameters: { greeting: 'Moin' } },
    });
    expect((await readSchedule())?.work.phone_settings).toEqual({});
    await schedule.getByRole('button', { name: 'Run now: Nightly' }).click();
    await page.waitForURL(/\/jobs\/[0-9a-f-]{36}$/);
    await page.getByText('1 completed').first().waitFor();
    await page.getByText('Moin undefined').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('link', { name: 'the schedule “Nightly”' }).click();
    await page.waitForURL(`${url}/jobs/schedules`);
    await schedule.getByRole('button', { name: 'History of Nightly' }).click();
    await dialog.getByText(/Run by hand by/).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await schedule.getByRole('button', { name: /^Edit / }).click();
    await times.fill('* * * * *');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await schedule.getByText('every minute').waitFor();
    // Opened before the schedule's first turn, which comes while the table runs.
    await page.goto(`${url}/jobs/pools`);
    await poolRow(page, 'night').getByRole('button', { name: 'Delete pool night' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await poolRow(page, 'night').waitFor({ state: 'detached' });

    await page.goto(`${url}/jobs`);
    await page.getByRole('button', { name: 'New job…' }).click();
    await dialog.getByLabel('Project').selectOption({ label: 'Greet' });
    await dialog.getByLabel('Phones', { exact: true }).fill('pool=all');
    const names = Array.from({ length: rows - 1 }, (_, at) => `Person ${at}`);
    const choose = (name: string, text: string): Promise<void> =>
      dialog
        .getByLabel('Table of inputs')
        .setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) });
    await choose('short.csv', 'n;name\n1;Ada\n2');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog
      .getByText('short.csv: The table of inputs cannot be used: it has 1 value in row 3')
      .waitFor();
    await choose('people.csv', ['name', ...names, 'Bad'].join('\n'));
    expect(await findViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.waitForURL(/\/jobs\/[0-9a-f-]+$/);
    const jobId = page.url().split('/').at(-1) ?? '';
    const before = await killPhoneOf(jobId, slow);
    const readJob = async () => (await api.call(jobRoutes.get, { params: { id: jobId } })).job;
    await until('the end of the job', readJob, ({ ended_at }) => ended_at !== null, tableMs);
    await page.getByText(`${rows - 1} completed, 1 failed`).waitFor();
    await page.getByLabel('State').selectOption('failed');
    await page.getByText(`1 of ${rows} tasks`).waitFor();
    await page.getByRole('cell', { name: 'no such person' }).waitFor();
    await page.getByRole('button', { name: 'Resume 1' }).click();
    await page.getByRole('link', { name: 'Run 2', exact: true }).waitFor();
    await page.getByText(`${rows - 1} completed, 1 failed`).waitFor();
    await page.getByLabel('State').selectOption('');
    await page.getByRole('columnheader', { name: 'Result: greeting' }).waitFor();
    await page.getByRole('cell', { name: 'Hello Person 0', exact: true }).waitFor();
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
      .filter({ hasText: `Hello ${slow}` })
      .getByText(`· ${last?.serial}`)
      .first()
      .waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Results as CSV' }).click();
    const text = await readFile(await (await download).path(), 'utf8');
    expect(text.split('\r\n')).toHaveLength(rows + 2);
    for (const name of names) expect(text).toContain(`${name},Hello ${name}\r\n`);

    await page.goto(`${url}/runs`);
    const folded = page.getByRole('row').filter({ hasText: `${rows} runs · 1 failed` });
    await folded.getByRole('link', { name: 'Job', exact: true }).click();
    await page.waitForURL(`${url}/jobs/${jobId}`);
    await page.getByRole('link', { name: 'Open run' }).first().click();
    await page.getByRole('link', { name: 'Job, task 1', exact: true }).click();
    await page.getByText(`1 of ${rows} tasks`).waitFor();
    await page.getByRole('cell', { name: 'Hello Person 0', exact: true }).waitFor();

    await page.goto(`${url}/jobs`);
    await page.getByRole('button', { name: 'New job…' }).click();
    await dialog.getByLabel('Project').selectOption({ label: 'Greet' });
    await dialog.getByText('Record video').click();
    await dialog.getByText('Phone settings').click();
    await dialog.getByLabel('Brightness').fill('40');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByText('Each run records video. Phone settings: brightness 40.').waitFor();

    await page.goto(`${url}/jobs/schedules`);
    await schedule.getByRole('button', { name: 'History of Nightly' }).click();
    await dialog.getByText('skipped', { exact: true }).first().waitFor({ timeout: turnMs });
    await dialog.getByText('you have no pool "night"').first().waitFor();
    await requireAccessible(page);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await schedule.getByRole('button', { name: 'Pause Nightly' }).click();
    await schedule.getByRole('button', { name: 'Resume Nightly' }).waitFor();
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
