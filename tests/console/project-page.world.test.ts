import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';

import { openWindow, signIn } from './support/browser.ts';
import { stage } from './support/stage.ts';
import { story } from './support/story.ts';

const here = stage(1);

story('Clone shows a command of git that clones the project with a token', async () => {
  const { service } = here;
  const { page, problems } = await openWindow(here.browser);
  await signIn(page, service.url, service.token);
  const projectId = await service.createProject('Sign up & pay', { 'main.ts': 'console.log(1);\n' });
  await service.call('POST', `/api/v2/automation/commit/${projectId}`, { message: 'The first one' });
  await page.goto(`${service.url}/projects/${projectId}`);
  await page.getByRole('button', { name: 'Clone', exact: true }).click();
  const command = await page
    .getByRole('dialog')
    .getByText(/^git clone /)
    .textContent();
  const [address = '', folder = ''] = command?.replace('git clone ', '').split(' ') ?? [];
  expect(folder).toBe('Sign-up-pay');
  const url = new URL(address);
  url.password = service.token;
  await service.run('git', ['clone', '--quiet', url.href, folder]);
  expect(existsSync(path.join(service.folder, folder, 'main.ts'))).toBe(true);
  expect(problems).toEqual([]);
});

story('a file that could not be read while the service was away is there when it answers again', async () => {
  const { service } = here;
  const { page } = await openWindow(here.browser);
  await signIn(page, service.url, service.token);
  const projectId = await service.createProject('Away', { 'main.ts': "console.log('here again');\n" });
  await page.route('**/api/v2/automation/file/**', (route) => route.abort());
  await page.goto(`${service.url}/projects/${projectId}?file=main.ts`);
  await page.getByText('This could not be loaded').waitFor();
  await page.unroute('**/api/v2/automation/file/**');
  await page.getByText('here again').waitFor();
});
