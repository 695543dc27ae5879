import { randomUUID } from 'node:crypto';
import type { Page, Route } from 'playwright-core';
import { expect } from 'vitest';

import { openWindow, signIn, type Watched } from './support/browser.ts';
import { stage } from './support/stage.ts';
import { story } from './support/story.ts';

const slowly = 400;
const here = stage(1);

/** Records the changes that the page sends to the service, whose replies are delayed. */
async function watchChanges(page: Page): Promise<string[]> {
  const changes: string[] = [];
  await page.route('**/api/v2/**', async (route) => {
    const request = route.request();
    if (request.method() === 'GET') return route.fallback();
    const { pathname } = new URL(request.url());
    if (!/\/(check|completions|symbol)\//.test(pathname))
      changes.push(
        `${request.method()} ${pathname.replace('/api/v2/', '').replaceAll(/\/[0-9a-f-]{36}/g, '')}`,
      );
    await new Promise((resolve) => setTimeout(resolve, slowly));
    return route.fallback();
  });
  return changes;
}

story('a page that is chosen while the console decides where to begin is the one that opens', async () => {
  const { page }: Watched = await openWindow(here.browser);
  const late = (ms: number) => async (route: Route) => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    return route.fallback();
  };
  await page.route(/\/api\/v2\/runs\?limit=1$/, late(600));
  await page.route(/\/projects-page[^/]*\.js/, late(3000));
  await signIn(page, here.service.url, here.service.token);
  await page
    .getByRole('navigation', { name: 'Pages' })
    .getByRole('link', { name: 'Projects', exact: true })
    .click();
  await page.getByRole('button', { name: 'New project…', exact: true }).waitFor();
  await page.context().close();
});

story('in every dialog Enter does what its button does, once, and not before it may', async () => {
  const { page, problems }: Watched = await openWindow(here.browser);
  await signIn(page, here.service.url, here.service.token);
  const changes = await watchChanges(page);
  const dialog = page.locator('#popups').getByRole('dialog');
  /** Fills in a dialog by keyboard. Presses Enter before and after, twice, like an impatient user. */
  const fill = async (open: string, text: string, sent = 'Enter'): Promise<void> => {
    await page.getByRole('button', { name: open, exact: true }).click();
    await dialog.waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type(text);
    await page.keyboard.press(sent);
    await page.keyboard.press(sent);
  };
  const did = async (...expected: string[]): Promise<void> => {
    expect(changes.splice(0)).toEqual(expected);
  };

  await page
    .getByRole('navigation', { name: 'Pages' })
    .getByRole('link', { name: 'Projects', exact: true })
    .click();
  await fill('New project…', 'Once');
  await page.locator('.cm-content').waitFor();
  await did('POST automation-project', 'PUT automation/files');

  await fill('New file', 'flows/pay.ts');
  await dialog.waitFor({ state: 'detached' });
  await did('PUT automation/file');
  // The unchanged path would not be a new one.
  await fill('Rename flows/pay.ts', 'flows/buy.ts');
  await page.getByRole('button', { name: 'Delete flows/buy.ts' }).waitFor();
  await did('POST automation/rename');
  // The message has several lines: Enter inserts a line break.
  await fill('Commit…', 'It pays', 'ControlOrMeta+Enter');
  await page.getByText('all committed').waitFor();
  await did('POST automation/commit');
  await page.getByRole('button', { name: 'Delete flows/buy.ts' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).dblclick();
  await dialog.waitFor({ state: 'detached' });
  await did('DELETE automation/file');

  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('link', { name: 'Tokens' }).click();
  await fill('New token…', 'CI');
  await dialog.getByText('phx_').waitFor();
  await did('POST tokens');
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Users' }).click();
  await fill('New user…', 'Ida');
  await dialog.getByText('phx_').waitFor();
  await did('POST users', 'POST tokens');
  await page.keyboard.press('Escape');

  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Projects' }).click();
  await page.getByRole('link', { name: 'Once' }).click();
  await fill('Share', 'Ida');
  await page.getByLabel('What Ida may do').waitFor();
  await did('PUT automation-project/members');
  await page.keyboard.press('Escape');
  // Focus returns to the button that opened the dialog.
  expect(
    await page.getByRole('button', { name: 'Share' }).evaluate((one) => one === document.activeElement),
  ).toBe(true);

  await page
    .getByRole('navigation', { name: 'Pages' })
    .getByRole('link', { name: 'Fleet', exact: true })
    .click();
  await page.getByLabel(/^Select .*SIM0001/).click();
  await page.getByRole('button', { name: 'Launch…' }).click();
  await dialog.getByRole('button', { name: 'Launch', exact: true }).dblclick();
  await dialog.getByRole('link', { name: 'Open run' }).waitFor();
  await did('POST devices/launchAutomation');
  await page.keyboard.press('Escape');

  const [deviceId] = await here.service.readyDevices(1);
  await page.goto(`${here.service.url}/devices/${deviceId}?tab=control`);
  await page.getByLabel('Text', { exact: true }).fill('nobody controls it');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Take control' }).click();
  await page.getByRole('button', { name: 'End control' }).waitFor();
  await page.getByLabel('Text', { exact: true }).fill('hello');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'End control' }).click();
  await page.getByRole('button', { name: 'Take control' }).waitFor();
  await did('POST devices/lease', 'POST devices/input', 'DELETE devices/lease');
  expect(problems).toEqual([]);
});

story('what happens between the first reading of a page and its stream of events is shown', async () => {
  const [deviceId = ''] = await here.service.readyDevices(1);
  const { page, problems } = await openWindow(here.browser);
  await signIn(page, here.service.url, here.service.token);
  // The previous page reads runs too.
  await page.goto('about:blank');
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route('**/api/v2/events?*', async (route) => {
    await released;
    await route.continue();
  });
  const read = page.waitForResponse(/\/api\/v2\/runs\?/);
  await page.goto(`${here.service.url}/runs`);
  await (await read).finished();
  const launch = { device_id: deviceId, launch_id: randomUUID(), command: 'start', name: 'meanwhile.ts' };
  await here.service.call('POST', '/api/v2/devices/launchDirectAutomation', {
    ...launch,
    code: 'console.log(1);',
  });
  const newest = async (): Promise<unknown> =>
    (await here.service.call('GET', '/api/v2/runs?limit=1'))['runs'];
  await expect.poll(newest).toMatchObject([{ name: 'meanwhile.ts', status: 'completed' }]);
  release();
  await page.getByText('meanwhile.ts').first().waitFor();
  expect(problems).toEqual([]);
});
