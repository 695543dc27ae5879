import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';

import { findViolations } from './support/axe.ts';
import { openWindow, signIn } from './support/browser.ts';
import { stage } from './support/stage.ts';
import { story } from './support/story.ts';

const here = stage(3);
const rows = 20;

const code = `const { name } = agent.arguments.jobVariables as { name: string };
if (name === 'Bad') throw new Error('no such person');
agent.control.setResult({ greeting: 'Hello ' + name });`;

story(
  'a table over a pool of phones: made, followed, one row fails, exported; a schedule made and paused',
  async () => {
    await here.service.readyDevices(3);
    await here.service.createProject('Greet', { 'main.ts': code });
    const { page, problems } = await openWindow(here.browser);
    await signIn(page, here.service.url, here.service.token);
    await page.goto(`${here.service.url}/jobs`);
    const dialog = page.getByRole('dialog');

    await page.getByRole('button', { name: 'New pool…' }).click();
    await dialog.getByLabel('Name').fill('all');
    await dialog.getByLabel('Selector').fill('sdk>=1');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row').filter({ hasText: '3 of 3 ready' }).waitFor();

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
    await page.getByText(`${rows - 1} completed, 1 failed`).waitFor({ timeout: 120_000 });
    await page.getByRole('cell', { name: 'no such person' }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Results as CSV' }).click();
    const text = await readFile(await (await download).path(), 'utf8');
    expect(text.split('\r\n')).toHaveLength(rows + 2);
    expect(text).toContain('Person 3,Hello Person 3');

    await page.goto(`${here.service.url}/jobs`);
    await page.getByRole('button', { name: 'New schedule…' }).click();
    await dialog.getByLabel('Project').selectOption({ label: 'Greet' });
    await dialog.getByLabel('Phones').fill('pool=all');
    await dialog.getByLabel('Time zone').fill('Europe/Nowhere');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText(/cannot be used/).waitFor();
    await dialog.getByLabel('Time zone').fill('Europe/Berlin');
    await dialog.getByRole('button', { name: 'Create' }).click();
    const schedule = page.getByRole('row').filter({ hasText: 'Europe/Berlin' });
    await schedule.getByRole('button', { name: 'Pause' }).click();
    await schedule.getByText('paused').waitFor();
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await findViolations(page), `at ${width}`).toEqual([]);
    }
    expect(problems).toEqual([]);
  },
);
