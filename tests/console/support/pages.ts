import type { Page } from 'playwright-core';

import type { Places } from './fill-service.ts';

export interface ConsolePage {
  readonly title: string;
  /** Resolves when the main content of the page is loaded. */
  readonly open: (page: Page, url: string) => Promise<void>;
}

type There = (page: Page) => Promise<unknown>;

const at =
  (address: string, there: There): ConsolePage['open'] =>
  async (page, url) => {
    await page.goto(`${url}${address}`);
    await there(page);
  };

const text =
  (words: string): There =>
  (page) =>
    page.getByText(words).filter({ visible: true }).first().waitFor();

const shown: There = () => Promise.resolve();

/** Opens a dialog with a button of the page. */
const dialog =
  (button: string | RegExp, then = shown): There =>
  async (page) => {
    await page.getByRole('button', { name: button, exact: true }).first().click();
    await page.locator('#popups').getByRole('dialog').waitFor();
    await then(page);
  };

/** Pages without data. */
export const emptyPages: readonly ConsolePage[] = [
  { title: 'empty-start', open: at('/start', text('Create the sample')) },
  { title: 'empty-projects', open: at('/projects', text('No projects yet')) },
  { title: 'empty-runs', open: at('/runs', text('Nothing has run yet')) },
  { title: 'empty-stats', open: at('/stats', text('No run ended in this period')) },
  { title: 'empty-jobs', open: at('/jobs', text('A job runs a project on phones')) },
  { title: 'empty-schedules', open: at('/jobs/schedules', text('A schedule creates a job at set times.')) },
  { title: 'empty-pools', open: at('/jobs/pools', text('A pool is a saved selector')) },
  { title: 'empty-groups', open: at('/groups', text('No open groups')) },
  { title: 'empty-webhooks', open: at('/settings/webhooks', text('A webhook sends a message')) },
  { title: 'empty-review', open: at('/records', text('Nothing to review')) },
  {
    title: 'failure',
    open: async (page, url) => {
      await page.route('**/api/v2/runs*', (route) => route.abort());
      await at('/runs', text('This could not be loaded'))(page, url);
      await page.unroute('**/api/v2/runs*');
    },
  },
];

/** Returns every page of the console with its dialogs. */
export function pagesOf({ deviceId, projectId, runId }: Places): readonly ConsolePage[] {
  const project = (there: There): ConsolePage['open'] =>
    at(`/projects/${projectId}?file=main.ts`, async (page) => {
      await page.locator('.cm-content').waitFor();
      // On a narrow page, the files are a separate part.
      const files = page.getByRole('button', { name: 'Files', exact: true });
      if (there !== shown && (await files.isVisible())) await files.click();
      await there(page);
    });
  return [
    { title: 'start', open: at('/start', text('Something has run')) },
    { title: 'fleet', open: at('/devices', text('Redmi Note 13')) },
    {
      title: 'fleet-wall',
      open: at('/devices?view=wall&pictures=true', async (page) => page.locator('li img').nth(2).waitFor()),
    },
    { title: 'pair', open: at('/devices', dialog('Pair a phone…', text('Show the code'))) },
    {
      title: 'together',
      open: at('/devices', async (page) => {
        for (const serial of ['SIM0001', 'SIM0002'])
          await page.getByLabel(new RegExp(`^Select .*${serial}`)).click();
        await page.getByRole('link', { name: 'Control together' }).click();
        await page.getByRole('button', { name: 'Take control of 2 phones' }).waitFor();
      }),
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
    { title: 'share', open: at(`/devices/${deviceId}`, dialog('Share', text('owner'))) },
    { title: 'runs', open: at('/runs', text('completed')) },
    { title: 'stats', open: at('/stats', text('Nightly checkout')) },
    { title: 'run', open: at(`/runs/${runId}`, text('The app says')) },
    { title: 'help', open: at('/help/errors#device_leased', text('device_leased')) },
    { title: 'settings', open: at('/settings', text('Signed in with')) },
    { title: 'tokens', open: at('/settings/tokens', text('this sign-in')) },
    { title: 'users', open: at('/settings/users', text('administrator')) },
    { title: 'hosts', open: at('/settings/hosts', text('connected')) },
    { title: 'usage', open: at('/settings/usage', text('Your usage of each limit')) },
    { title: 'audit', open: at('/settings/audit', text('done')) },
    {
      title: 'user-menu',
      open: at('/runs', async (page) => {
        await page.getByRole('button', { name: /^You: / }).click();
        await page.getByRole('dialog', { name: 'You' }).waitFor();
      }),
    },
    { title: 'webhooks', open: at('/settings/webhooks', text('Deliveries')) },
    { title: 'new-webhook', open: at('/settings/webhooks', dialog('New webhook…')) },
    { title: 'deliveries', open: at('/settings/webhooks', dialog('Deliveries')) },
    { title: 'new-token', open: at('/settings/tokens', dialog('New token…')) },
    { title: 'new-user', open: at('/settings/users', dialog('New user…')) },
    { title: 'revoke', open: at('/settings/tokens', dialog(/^Revoke /)) },
    {
      title: 'stop',
      open: at('/devices', async (page) => {
        await page.getByLabel(/^Select .*SIM0001/).click();
        await dialog('Stop…')(page);
      }),
    },
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
    { title: 'projects', open: at('/projects', text('out of steps')) },
    { title: 'new-project', open: at('/projects', dialog('New project…')) },
    { title: 'new-file', open: project(dialog('New file')) },
    { title: 'rename', open: project(dialog('Rename main.ts')) },
    { title: 'delete', open: project(dialog('Delete main.ts')) },
    { title: 'commit', open: project(dialog('Commit…', text('· modified'))) },
    { title: 'clone', open: project(dialog('Clone', text('git clone'))) },
    { title: 'history', open: project(dialog('History', text('The form is filled in'))) },
    {
      title: 'project',
      open: project(shown),
    },
    { title: 'replays', open: at(`/projects/${projectId}/replays`, text('Replays')) },
    {
      title: 'versions',
      open: at(`/projects/${projectId}/versions`, text('App versions')),
    },
    {
      title: 'groups',
      open: at('/groups', async (page) => page.getByRole('figure').first().waitFor()),
    },
    {
      title: 'review',
      open: at('/records', async (page) => {
        await page.getByRole('treeitem').nth(5).click();
        await text('Attributes')(page);
      }),
    },
    { title: 'not-found', open: at('/settings/nowhere', text('Page not found')) },
  ];
}
