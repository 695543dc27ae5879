// npm run lab -- screenshots [<folder>]: captures every page of the console, in three widths and both themes.
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';

import { Service } from '../user-ways/service.ts';
import { openBrowser, openWindow, signIn } from './support/browser.ts';
import { fillService } from './support/fill-service.ts';
import { type ConsolePage, emptyPages, pagesOf } from './support/pages.ts';

const sizes = {
  desk: { width: 1920, height: 1080 },
  wide: { width: 1280, height: 800 },
  narrow: { width: 390, height: 844 },
};
const themes = ['light', 'dark'] as const;

const folder = path.resolve(process.argv[2] ?? 'screenshots');
await mkdir(folder, { recursive: true });
const service = await Service.start(3);
try {
  await shootAll(await openBrowser());
} finally {
  await service.stop();
}

async function shootAll(browser: Browser): Promise<void> {
  const shootEach = async (pages: readonly ConsolePage[]): Promise<void> => {
    for (const [size, viewport] of Object.entries(sizes))
      for (const theme of themes) await shoot(browser, `${size}-${theme}`, { viewport, theme }, pages);
  };
  try {
    await shootEach(emptyPages);
    await shootEach(pagesOf(await fillService(service)));
  } finally {
    await browser.close();
  }
}

interface Look {
  viewport: { width: number; height: number };
  theme: (typeof themes)[number];
}

async function shoot(
  opened: Browser,
  name: string,
  { viewport, theme }: Look,
  pages: readonly ConsolePage[],
): Promise<void> {
  const isNarrow = viewport.width < 720;
  const look = { viewport, colorScheme: theme, isMobile: isNarrow, hasTouch: isNarrow };
  const { page, context, problems } = await openWindow(opened, look);
  await page.goto(`${service.url}/sign-in`);
  await page.getByLabel('API token').waitFor();
  await take(page, name, 'sign-in');
  await signIn(page, service.url, service.token);
  for (const { title, open } of pages) {
    await open(page, service.url);
    await take(page, name, title);
  }
  await context.close();
  for (const problem of problems) console.error(`${name}: ${problem}`);
}

async function take(page: Page, look: string, title: string): Promise<void> {
  const file = path.join(folder, `${look}-${title}.png`);
  await page.evaluate(() => document.fonts.ready);
  await page.screenshot({ path: file });
  console.log(file);
}
