import { prepareConsole } from '@phalanx/console';
import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';

import { until } from '@phalanx/host/testing/until';
import type { TestHost } from '../../apps/server/src/testing/test-host.ts';
import { adminToken, TestServer } from '../../apps/server/src/testing/test-server.ts';
import { closeWindows, openWindow, sharedBrowser, signIn } from './support/browser.ts';
import { hasChromium, story } from './support/story.ts';

const phones = 300;
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

const isInView = (one: Locator): Promise<boolean> =>
  one.evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  });

for (const width of [1280, 390])
  story(`Back finds a list where it was scrolled to, ${width} pixels wide`, async () => {
    const { page, problems } = await openWindow(browser, { viewport: { width, height: 800 } });
    await signIn(page, server.url, adminToken);
    await page.goto(`${server.url}/devices`);
    await page.getByText('shelf-0000').waitFor();
    await page.getByRole('grid', { name: 'Phones' }).hover();
    const wanted = page.getByText('shelf-0200');
    await until('the two hundredth phone', async () => {
      if ((await wanted.count()) > 0) return true;
      await page.mouse.wheel(0, 500);
      return undefined;
    });
    await wanted.scrollIntoViewIfNeeded();
    await page.getByRole('row').filter({ has: wanted }).getByRole('link').click();
    await page.getByRole('tab', { name: 'Inspect' }).waitFor();
    await page.goBack();
    await wanted.waitFor();
    expect(await isInView(wanted)).toBe(true);
    expect(problems).toEqual([]);
  });

story(
  'a click on a header sorts, the next one the other way round, a third takes the order away',
  async () => {
    const { page } = await openWindow(browser);
    await signIn(page, server.url, adminToken);
    await page.goto(`${server.url}/devices`);
    const header = page.getByRole('columnheader', { name: 'Serial' });
    const first = page.getByRole('row').nth(1);
    await first.getByText('shelf-').waitFor();
    const click = (): Promise<void> => header.getByRole('button').click();
    await click();
    await first.getByText('shelf-0000').waitFor();
    expect(await header.getAttribute('aria-sort')).toBe('ascending');
    await click();
    await first.getByText(`shelf-0${phones - 1}`).waitFor();
    expect(await header.getAttribute('aria-sort')).toBe('descending');
    expect(new URL(page.url()).searchParams.get('descending')).toBe('true');
    await click();
    await expect.poll(() => header.getAttribute('aria-sort')).toBe('none');
  },
);
