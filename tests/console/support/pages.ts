import type { Page } from 'playwright-core';

import type { Places } from './fill-service.ts';

interface ConsolePage {
  readonly title: string;
  /** Resolves when what the page is about is there. */
  readonly open: (page: Page, url: string) => Promise<void>;
}

/** Every page of the console, and what pops up on it. */
export function pagesOf({ deviceId, projectId, runId }: Places): readonly ConsolePage[] {
  const at =
    (address: string, there: (page: Page) => Promise<unknown>) =>
    async (page: Page, url: string): Promise<void> => {
      await page.goto(`${url}${address}`);
      await there(page);
    };
  const text = (words: string) => (page: Page) =>
    page.getByText(words).filter({ visible: true }).first().waitFor();
  return [
    { title: 'start', open: at('/start', text('Something has run')) },
    { title: 'fleet', open: at('/devices', text('Redmi Note 13')) },
    {
      title: 'fleet-wall',
      open: at('/devices?view=wall&pictures=true', async (page) => page.locator('li img').first().waitFor()),
    },
    {
      title: 'launch',
      open: at('/devices', async (page) => {
        await page.getByLabel(/^Select .*SIM0001/).click();
        await page.getByRole('button', { name: 'Launch…' }).click();
        await page.getByRole('dialog').waitFor();
        await page.getByLabel('Project').selectOption({ label: 'Registration' });
        await page.getByLabel('E-mail').waitFor();
      }),
    },
    {
      title: 'device',
      open: at(`/devices/${deviceId}`, async (page) => {
        await page.getByRole('treeitem').nth(8).click();
        await page.getByText('Attributes').waitFor();
      }),
    },
    {
      title: 'control',
      open: at(`/devices/${deviceId}?tab=control`, async (page) =>
        page.getByRole('img', { name: 'What the screen shows' }).waitFor(),
      ),
    },
    { title: 'about', open: at(`/devices/${deviceId}?tab=about`, text('Free storage')) },
    {
      title: 'share',
      open: at(`/devices/${deviceId}`, async (page) => {
        await page.getByRole('button', { name: 'Share' }).click();
        await text('owner')(page);
      }),
    },
    { title: 'runs', open: at('/runs', text('completed')) },
    { title: 'run', open: at(`/runs/${runId}`, text('The app says')) },
    { title: 'settings', open: at('/settings', text('this sign-in')) },
    {
      title: 'palette',
      open: at('/runs', async (page) => {
        await text('completed')(page);
        await page.keyboard.press('Control+k');
        await page.getByRole('option').first().waitFor();
      }),
    },
    {
      title: 'keys',
      open: at('/runs', async (page) => {
        await text('completed')(page);
        await page.keyboard.press('?');
        await page.getByRole('dialog').waitFor();
      }),
    },
    { title: 'projects', open: at('/projects', text('Registration')) },
    {
      title: 'project',
      open: at(`/projects/${projectId}?file=main.ts`, async (page) => page.locator('.cm-content').waitFor()),
    },
    {
      title: 'commit',
      open: at(`/projects/${projectId}`, async (page) => {
        await page.getByRole('button', { name: 'History' }).click();
        await text('The form is filled in')(page);
      }),
    },
    {
      title: 'review',
      open: at('/records', async (page) => {
        await page.getByRole('treeitem').nth(5).click();
        await text('Attributes')(page);
      }),
    },
    { title: 'not-found', open: at('/settings/nowhere', text('There is no such page')) },
  ];
}
