import { prepareConsole } from '@phalanx/console';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';

import { TestServer } from '../../apps/server/src/testing/test-server.ts';
import type { TestHost } from '../../apps/server/src/testing/test-host.ts';
import { closeWindows, openWindow, sharedBrowser } from './support/browser.ts';
import { hasChromium, story } from './support/story.ts';

const phones = 1000;
/** Maximum number of rendered rows: those that fit on a screen, and as many again beyond its edges. */
const maxRows = 100;
let server: TestServer;
let host: TestHost;
let browser: Browser;

beforeAll(async () => {
  if (!hasChromium) return;
  server = await TestServer.start({ console: prepareConsole() });
  const serials = Array.from({ length: phones }, (_, index) => `shelf-${String(index).padStart(4, '0')}`);
  ({ host } = await server.connectHost({ serials }));
  browser = await sharedBrowser();
});
afterAll(async () => {
  await closeWindows();
  await host?.cut();
  await server?.dispose();
});

story('a thousand phones are found, chosen and stopped, and one that goes is told at once', async () => {
  const { page, problems } = await openWindow(browser);
  // Opens the link that the terminal prints.
  await page.goto(await server.createSignInLink());
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
  expect(page.url()).not.toContain('link=');
  // No run exists yet.
  await page.waitForURL(/\/start$/);
  await page
    .getByRole('navigation', { name: 'Pages' })
    .getByRole('link', { name: 'Fleet', exact: true })
    .click();
  await page.getByText('shelf-0000').waitFor();
  expect(await page.getByRole('row').count()).toBeLessThan(maxRows);

  await page.keyboard.press('/');
  await page.keyboard.type('shelf-09');
  await page.getByText('shelf-0900').waitFor();
  expect(new URL(page.url()).searchParams.get('q')).toBe('shelf-09');
  await page.getByLabel('Select all').click();
  await page.getByText('100 selected').waitFor();
  await page.getByRole('button', { name: 'Clear' }).click();

  await page.getByLabel('Name, serial, reason').fill('');
  await page.getByLabel('Select all').click();
  await page.getByText(`${phones} selected`).waitFor();
  await page.getByRole('button', { name: 'Stop…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Stop', exact: true }).click();
  await page
    .getByRole('region', { name: 'Outcome on each phone' })
    .getByText('nothing ran')
    .first()
    .waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();

  await page.getByRole('button', { name: 'Wall' }).click();
  await page.getByRole('list', { name: 'Phones' }).getByText('shelf-0001').waitFor();
  expect(await page.getByRole('listitem').count()).toBeLessThan(2 * maxRows);
  await host.cut();
  await page.getByRole('button', { name: new RegExp(`offline\\s*${phones}`) }).waitFor();
  expect(problems).toEqual([]);
});
