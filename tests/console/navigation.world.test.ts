import type { Page } from 'playwright-core';
import { expect } from 'vitest';

import { findViolations } from './support/axe.ts';
import { openWindow, signIn } from './support/browser.ts';
import { stage } from './support/stage.ts';
import { story } from './support/story.ts';

const here = stage(1);

const marked = (page: Page): Promise<string[]> =>
  page
    .getByRole('navigation', { name: 'Pages' })
    .locator('> [aria-current="page"]')
    // The logo is not a separate destination.
    .filter({ hasText: /\w/ })
    .allTextContents();

story('one name leads to a page, stands on it, and is marked there; its parts have addresses', async () => {
  const { page, problems } = await openWindow(here.browser);
  await signIn(page, here.service.url, here.service.token);
  const go = (name: string) => page.getByRole('link', { name, exact: true }).first().click();
  const heading = page.getByRole('heading', { level: 1 });

  await go('Review');
  await expect.poll(() => heading.textContent()).toBe('Review');
  await go('Records');
  await page.waitForURL(/\/records$/);
  expect([await heading.textContent(), await marked(page)]).toEqual(['Review', ['Review']]);
  await expect.poll(() => page.title()).toBe('Records · Review · Phalanx');

  await go('Settings');
  const tabs = [
    ['Tokens', '/settings/tokens'],
    ['Users', '/settings/users'],
    ['Hosts', '/settings/hosts'],
    ['Webhooks', '/settings/webhooks'],
    ['Usage', '/settings/usage'],
    ['Audit log', '/settings/audit'],
    ['Account', '/settings'],
  ] as const;
  for (const [name, address] of tabs) {
    await go(name);
    await page.waitForURL(`${here.service.url}${address}`);
    await expect.poll(() => page.title()).toBe(`${name} · Settings · Phalanx`);
    expect([name, await heading.textContent(), await marked(page)]).toEqual([name, 'Settings', ['Settings']]);
    await page.reload();
    await expect.poll(() => page.title()).toBe(`${name} · Settings · Phalanx`);
  }

  await page.goto(`${here.service.url}/stats`);
  await page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link', { name: 'Runs' }).click();
  await page.waitForURL(/\/runs$/);
  await page.getByRole('link', { name: 'Phalanx: fleet' }).click();
  await page.waitForURL(/\/devices$/);
  expect(await marked(page)).toEqual(['Fleet']);
  expect(problems).toEqual([]);
});

story(
  'the user menu has the name, the theme, the settings, help and the sign-out, also where it is narrow',
  async () => {
    const { page, problems } = await openWindow(here.browser, { viewport: { width: 390, height: 844 } });
    await signIn(page, here.service.url, here.service.token);
    const open = async (): Promise<void> => {
      await page.getByRole('button', { name: /^You: / }).click();
      await page.getByRole('dialog', { name: 'You' }).waitFor();
    };
    await open();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('radio', { name: 'Dark' }).check();
    expect(await page.evaluate(() => document.documentElement.dataset['theme'])).toBe('dark');
    await page.getByRole('link', { name: 'First steps' }).click();
    await page.waitForURL(/\/start$/);
    expect(await page.getByRole('dialog', { name: 'You' }).isVisible()).toBe(false);
    await open();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'You' }).waitFor({ state: 'hidden' });
    await open();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API token').waitFor();
    expect(await page.getByText('You were signed out').count()).toBe(0);
    expect(problems).toEqual([]);
  },
);

story('whoever was signed in is told why they have to sign in again', async () => {
  const { id, secret } = await here.service
    .call('POST', '/api/v2/tokens', { name: 'of a browser' })
    .then(({ token, secret: made }) => ({ id: (token as { id: string }).id, secret: String(made) }));
  const { page, problems } = await openWindow(here.browser);
  await signIn(page, here.service.url, secret);
  await page.goto(`${here.service.url}/runs`);
  await page.getByText('Nothing has run yet').waitFor();
  await here.service.call('DELETE', `/api/v2/tokens/${id}`, {});
  // Either the token or its sign-in is rejected first; both replies say that it was revoked.
  const why = /You were signed out\. The token .*was revoked/;
  // The page asks by itself and keeps its state.
  const again = page.getByRole('dialog', { name: 'Sign in again' });
  await again.getByText(why).waitFor();
  expect(await findViolations(page)).toEqual([]);
  await page.reload();
  await page.getByText(why).waitFor();
  await page.getByLabel('API token').fill(secret.slice(0, -1));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('This token is incomplete or mistyped.').waitFor();
  expect(problems).toEqual([]);
});
