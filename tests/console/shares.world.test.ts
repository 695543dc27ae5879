import type { Page } from 'playwright-core';
import { expect } from 'vitest';

import { findViolations } from './support/axe.ts';
import { openWindow, signIn, type Watched } from './support/browser.ts';
import { stage } from './support/stage.ts';
import { story } from './support/story.ts';

const here = stage(1);
const opened: Watched[] = [];

async function openAs(token: string, place: string): Promise<Page> {
  const window = await openWindow(here.browser);
  opened.push(window);
  await signIn(window.page, here.service.url, token);
  await window.page.goto(`${here.service.url}${place}`);
  return window.page;
}

async function createUser(name: string): Promise<{ id: string; token: string }> {
  const { user } = await here.service.call('POST', '/api/v2/users', { name });
  const { id } = user as { id: string };
  const { secret } = await here.service.call('POST', '/api/v2/tokens', { name: 'laptop', user_id: id });
  return { id, token: String(secret) };
}

story('what is shared waits until its receiver accepts or refuses it, by keyboard too', async () => {
  const { service } = here;
  const ada = await createUser('Ada');
  const projectId = await here.service.createProject('Shop', { 'main.ts': 'console.log(1);' });
  const { devices } = await service.call('GET', '/api/v2/devices');
  const [{ device_id: deviceId }] = devices as [{ device_id: string }];
  await service.call('PUT', `/api/v2/devices/${deviceId}/members/${ada.id}`, { role: 'launch' });
  await service.call('PUT', `/api/v2/automation-project/${projectId}/members/${ada.id}`, {
    role: 'shared_editor',
  });

  const page = await openAs(ada.token, '/devices');
  const waiting = page.getByRole('region', { name: 'Shared with you, waiting for your decision' });
  await waiting.getByText('you can launch and touch').waitFor();
  await page.getByText('Shared with you, not accepted yet.').first().waitFor();
  expect(await findViolations(page)).toEqual([]);
  // The only ready phone is not preselected.
  const launch = page.getByRole('button', { name: 'Launch…' });
  expect(await launch.getAttribute('title')).toBe('No phone is ready.');
  await waiting.getByRole('button', { name: /^Accept Phone/ }).press('Enter');
  await waiting.waitFor({ state: 'detached' });
  await page.getByText('Shared with you, not accepted yet.').first().waitFor({ state: 'detached' });

  const owner = await openAs(here.service.token, `/projects/${projectId}`);
  await owner.getByRole('button', { name: 'Share' }).click();
  await owner.getByRole('listitem').filter({ hasText: 'Ada' }).getByText('waiting').waitFor();
  await page.goto(`${here.service.url}/projects`);
  await page.getByText('shared, you can edit, not accepted yet').waitFor();
  expect(await findViolations(page)).toEqual([]);
  await waiting.getByRole('button', { name: /^Refuse Project Shop/ }).press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Refuse', exact: true }).press('Enter');
  await waiting.waitFor({ state: 'detached' });
  await page.getByText('No projects yet').waitFor();
  expect(opened.flatMap(({ problems }) => problems)).toEqual([]);
});

story('the owner of a project says whose hosts get its secrets', async () => {
  const ben = await createUser('Ben');
  const projectId = await here.service.createProject('Bank', { 'main.ts': 'console.log(1);' });
  const page = await openAs(here.service.token, `/projects/${projectId}`);
  await page.getByRole('button', { name: 'Secrets' }).click();
  await page.getByRole('button', { name: 'Hosts…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Hosts that receive the secrets' });
  await dialog.getByText('No other users.').waitFor();
  await dialog.getByLabel('User').fill(ben.id);
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  await dialog.getByRole('cell', { name: 'Ben', exact: true }).waitFor();
  expect(await findViolations(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Remove Ben' }).click();
  const question = page.getByRole('dialog', { name: 'Remove Ben?' });
  expect(await findViolations(page)).toEqual([]);
  await question.getByRole('button', { name: 'Remove' }).click();
  await dialog.getByText('No other users.').waitFor();
});
