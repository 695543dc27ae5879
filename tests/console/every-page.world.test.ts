import { expect } from 'vitest';

import { findViolations, findViolationsOfThemes } from './support/axe.ts';
import { openWindow, signIn } from './support/browser.ts';
import { stage } from './support/stage.ts';
import { story } from './support/story.ts';
import { fillService } from './support/fill-service.ts';
import { type ConsolePage, emptyPages, pagesOf } from './support/pages.ts';

const sizes = [
  { width: 1280, height: 800 },
  { width: 1920, height: 1080 },
  { width: 390, height: 844 },
];
const maxFirstLoadBytes = 250_000;
const here = stage(3);

story(
  'every page and dialog is accessible, light and dark, wide and narrow, and keeps to its policy',
  async () => {
    const { page, problems } = await openWindow(here.browser);
    await signIn(page, here.service.url, here.service.token);
    const found: string[] = [];
    const look = async ({ title, open }: ConsolePage): Promise<void> => {
      await open(page, here.service.url);
      for (const viewport of sizes) {
        await page.setViewportSize(viewport);
        const violations = await findViolationsOfThemes(page);
        found.push(...violations.map((one) => `${title} ${viewport.width} ${one}`));
        const overflow = await page.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        );
        if (overflow > 0) found.push(`${title} ${viewport.width}: ${overflow} pixels too wide`);
      }
      await page.setViewportSize(sizes[0] ?? { width: 1280, height: 800 });
    };
    for (const one of emptyPages) await look(one);
    for (const one of pagesOf(await fillService(here.service))) await look(one);
    expect(found).toEqual([]);
    expect(problems).toEqual([]);
  },
);

story('an address that people guess leads to its page, and one that does not exist leads back', async () => {
  const { page, problems } = await openWindow(here.browser);
  await signIn(page, here.service.url, here.service.token);
  await page.goto(`${here.service.url}/fleet`);
  await page.waitForURL(/\/devices$/);
  await page.goto(`${here.service.url}/review`);
  await page.waitForURL(/\/groups$/);
  expect((await page.goto(`${here.service.url}/nowhere/at/all`))?.status()).toBe(404);
  await page.getByText('Page not found').waitFor();
  expect(await findViolations(page)).toEqual([]);
  await page.getByRole('link', { name: 'Go to the fleet' }).click();
  await page.getByRole('row').getByText('Redmi Note 13').waitFor();
  expect(problems).toEqual([]);
});

story('the first page is small, and its files are for ever', async () => {
  const { page } = await openWindow(here.browser);
  const sizesOf: number[] = [];
  page.on('response', (response) => {
    const { pathname } = new URL(response.url());
    if (!/\.(js|css)$/.test(pathname)) return;
    expect(response.headers()).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-encoding': 'br',
    });
    sizesOf.push(Number(response.headers()['content-length']));
  });
  await signIn(page, here.service.url, here.service.token);
  await page.getByText('Redmi Note 13').waitFor();
  expect(sizesOf.length).toBeGreaterThan(2);
  expect(sizesOf.reduce((sum, size) => sum + size, 0)).toBeLessThan(maxFirstLoadBytes);
});
