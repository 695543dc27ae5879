import { until } from '@phalanx/host/testing/until';
import { fileRoutes, projectRoutes } from '@phalanx/protocol';
import { afterAll, beforeAll, expect } from 'vitest';

import { SmallDisk } from '../../apps/server/src/testing/engines/small-disk.ts';
import { Installation } from '../support/installation.ts';
import { closeWindows, openWindow, sharedBrowser, signIn } from './support/browser.ts';
import { paste } from './support/paste.ts';
import { hasChromium, story } from './support/story.ts';

let disk: SmallDisk | undefined;
let installation: Installation;

beforeAll(async () => {
  if (!hasChromium) return;
  disk = SmallDisk.create(64);
  installation = await Installation.start(1, disk === undefined ? undefined : `${disk.folder}/server`);
});
afterAll(async () => {
  await installation?.stop();
  disk?.remove();
});

story(
  'a full disk and a restarted server lose nothing that was typed, and a dead phone says why',
  async () => {
    const { api, url, callerSettings } = installation;
    const { project } = await api.call(projectRoutes.create, { body: { name: 'Kept' } });
    const params = { id: project.id };
    await api.call(fileRoutes.write, { params, body: { path: 'main.ts', content: '// begin\n' } });
    const stored = async () =>
      (await api.call(fileRoutes.read, { params, query: { path: 'main.ts' } })).content;
    const browser = await sharedBrowser();
    try {
      const { page, problems } = await openWindow(browser);
      await signIn(page, url, callerSettings['PHALANX_TOKEN'] ?? '');
      await page.goto(`${url}/projects/${project.id}`);
      await page.getByText('Live', { exact: true }).waitFor();
      const type = async (text: string): Promise<void> => {
        await page.locator('.cm-content').click();
        await page.keyboard.press('Control+End');
        await paste(page, text);
        await page.getByText('Unsaved, kept in this browser').waitFor();
        await page.keyboard.press('Control+s');
      };
      const saveAgain = async (text: string): Promise<void> => {
        await page.getByRole('button', { name: 'Save', exact: true }).click();
        await page.getByText(/^Saved at/).waitFor();
        expect(await stored()).toContain(text);
      };

      // Filling a disk requires the permission to mount one; without it, a container tests only the restart.
      if (disk !== undefined) {
        disk.fill();
        await type('// typed on a full disk\n');
        await page.getByText(/no disk space/).waitFor();
        await page.reload();
        await page.locator('.cm-content').getByText('typed on a full disk').waitFor();
        disk.makeRoom();
        await until('room', async () => (await fetch(`${url}/readyz`)).ok);
        await saveAgain('typed on a full disk');
      }

      await installation.server.end('SIGKILL');
      await page.getByText('The connection to the service is lost').waitFor();
      await type('// typed without a server\n');
      await page.getByText('The service does not answer.').first().waitFor();
      await installation.restartServer();
      await page.getByText('Live', { exact: true }).waitFor();
      await saveAgain('typed without a server');
      await page
        .getByRole('navigation', { name: 'Pages' })
        .getByRole('link', { name: 'Fleet', exact: true })
        .click();
      await page.getByText('TEST1').waitFor();
      await page.getByText('ready').first().waitFor();

      // A dead phone shows the reason, and nothing starts on it.
      await installation.phones[0]?.stop();
      await page.getByRole('row').getByText('offline').waitFor();
      await page.getByLabel(/^Select .*TEST1/).click();
      await page.getByRole('button', { name: 'Launch…' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('1 of them is not ready').waitFor();
      await dialog.getByRole('button', { name: 'Launch', exact: true }).click();
      await dialog
        .getByRole('region', { name: 'Outcome on each phone' })
        .getByText('refused')
        .first()
        .waitFor();
      expect(problems).toEqual([]);
    } finally {
      await closeWindows();
    }
  },
);
