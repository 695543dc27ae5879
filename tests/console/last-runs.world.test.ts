import { expect } from 'vitest';

import { openWindow, signIn } from './support/browser.ts';
import { stage } from './support/stage.ts';
import { story } from './support/story.ts';

const here = stage(1);

story(
  'the list of projects has the last run of each, also of one that ran long before the others',
  async () => {
    const [deviceId = ''] = await here.service.readyDevices(1);
    const project = await here.service.createProject('Long ago', { 'main.ts': 'console.log(1);' });
    await here.service.createProject('Never', { 'main.ts': 'console.log(1);' });
    await here.service.launch(deviceId, project);
    const { page, problems } = await openWindow(here.browser);
    // Simulates a hundred newer runs of other projects.
    await page.route(/\/api\/v2\/runs\?limit=100$/, (route) =>
      route.fulfill({ json: { success: true, runs: [], total: null, next_cursor: null } }),
    );
    await signIn(page, here.service.url, here.service.token);
    await page.goto(`${here.service.url}/projects`);
    const row = (name: string) => page.getByRole('row').filter({ hasText: name });
    await row('Long ago').getByText('completed').waitFor();
    await row('Never').getByText('no runs').waitFor();
    expect(problems).toEqual([]);
  },
);
