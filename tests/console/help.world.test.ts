import { expect } from 'vitest';

import { findViolations } from './support/axe.ts';
import { openWindow, signIn } from './support/browser.ts';
import { stage } from './support/stage.ts';
import { story } from './support/story.ts';

const here = stage(1);

story('the help: pages in groups, the contents of a page, a search without marks', async () => {
  const { page, problems } = await openWindow(here.browser);
  await signIn(page, here.service.url, here.service.token);
  await page.goto(`${here.service.url}/help`);
  const pages = page.getByRole('navigation', { name: 'Pages of the help' });
  await pages
    .getByRole('group', { name: 'Operating' })
    .getByRole('link', { name: 'Operating Phalanx' })
    .waitFor();
  await pages.getByRole('group', { name: 'Reference' }).getByRole('link', { name: 'agent.d.ts' }).waitFor();
  const shown = pages.locator('[aria-current="page"]');
  await expect.poll(() => shown.allTextContents()).toEqual([expect.stringMatching(/^Tutorial/)]);

  // Each entry of the contents scrolls its heading into view.
  await page
    .getByRole('navigation', { name: 'On this page' })
    .getByRole('link', { name: '7. Repair the automation' })
    .click();
  const heading = page.getByRole('heading', { name: '7. Repair the automation' });
  await expect.poll(() => heading.evaluate((one) => one.getBoundingClientRect().top)).toBeLessThan(200);
  await page.goto(`${here.service.url}/help/reference`);
  await expect.poll(() => page.title()).toBe('API reference · Phalanx');
  expect(await findViolations(page)).toEqual([]);

  // From the end of a long page, the first search result is in view.
  await page.locator('[data-page-body]').evaluate((body) => body.scrollTo({ top: body.scrollHeight }));
  await page.getByLabel('Search the help').fill('device_leased');
  const first = page.getByRole('list', { name: 'Search results' }).getByRole('listitem').first();
  await first.getByRole('link', { name: 'device_leased' }).waitFor();
  await expect.poll(() => page.title()).toBe('Search for “device_leased” · Phalanx');
  const gap = await first.evaluate((one) => {
    const body = one.closest('[data-page-body]');
    return one.getBoundingClientRect().top - (body?.getBoundingClientRect().top ?? Infinity);
  });
  expect(gap).toBeGreaterThanOrEqual(0);
  const found = page.getByRole('list', { name: 'Search results' });
  expect(await found.innerText()).not.toMatch(/[`|]|\*\*/);

  // Narrow pages collapse the lists, and following a link collapses them again.
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByLabel('Search the help').fill('');
  expect(await pages.isVisible()).toBe(false);
  await page.getByRole('button', { name: 'Pages of the help' }).click();
  await pages.getByRole('link', { name: 'Glossary' }).click();
  await page.getByRole('heading', { level: 1, name: 'Glossary' }).waitFor();
  expect(await pages.isVisible()).toBe(false);
  expect(problems).toEqual([]);
});
