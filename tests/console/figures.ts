// npm run lab -- console-figures: measures the console with 1,000 phones, 100,000 records and 50,000 log lines.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';

import { adminToken } from '../../apps/server/src/testing/test-server.ts';
import { percentile } from '../../bench/harness/percentile.ts';
import { openBrowser, openWindow, signIn } from './support/browser.ts';
import { LargeService } from './support/large-service.ts';

const keys = 100;
/** Time in ms spent on each record, long enough for the next one to be prefetched. */
const lookMs = 350;
const liveSeconds = 12;
const newLines = 40;

console.error('filling a service; this takes a minute');
const service = await LargeService.start();
const { url } = service.server;
try {
  const browser = await openBrowser();
  try {
    const { page, problems } = await openWindow(browser);
    await signIn(page, url, adminToken);
    await tellFirstLoad(page);
    await tellPages(page);
    await tellReview(page);
    await tellLog(page);
    await tellNewLines(page);
    for (const problem of problems) console.log('PROBLEM', problem);
  } finally {
    await browser.close();
  }
} finally {
  await service.stop();
}

function tell(what: string, figure: number, unit: string, bound?: string): void {
  const text = figure >= 100 ? Math.round(figure).toLocaleString('en') : figure.toFixed(1);
  console.log(`${what.padEnd(44)} ${text.padStart(10)} ${unit.padEnd(8)} ${bound ?? ''}`);
}

/** Reports the gzip sizes of the scripts and styles that a browser fetches for the fleet page. */
async function tellFirstLoad(page: Page): Promise<void> {
  await page.goto(`${url}/devices`);
  await page.getByText('shelf-0000').waitFor();
  const files = await page.evaluate(() =>
    performance
      .getEntriesByType('resource')
      .map(({ name }) => name)
      .filter((name) => /\.(js|css)$/.test(new URL(name).pathname)),
  );
  const sizes = files.map(async (file) => {
    const response = await fetch(file, { headers: { 'accept-encoding': 'gzip' } });
    return Number(response.headers.get('content-length'));
  });
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  tell('first load, gzip', bytes / 1000, 'kB', 'at most 250');
}

/**
 * Reports the time from the navigation to the main content of each page, and the longest time in which the page did
 * not respond.
 */
async function tellPages(page: Page): Promise<void> {
  const pages = {
    'fleet of 1,000 phones': ['/devices', 'shelf-0000'],
    'wall of 1,000 phones': ['/devices?view=wall', 'shelf-0000'],
    runs: ['/runs', 'Direct code'],
    'review of 100,000 records': ['/records?status=any', '1 of 100,130'],
    'run with 50,000 lines': [`/runs/${service.runId}`, 'step 49999'],
  } as const;
  await page.addInitScript(() => {
    const tasks: number[] = [];
    Object.assign(globalThis, { longTasks: tasks });
    new PerformanceObserver((list) =>
      tasks.push(...list.getEntries().map(({ duration }) => duration)),
    ).observe({
      type: 'longtask',
      buffered: true,
    });
  });
  for (const [name, [place, words]] of Object.entries(pages)) {
    const startedAt = performance.now();
    await page.goto(`${url}${place}`);
    await page.getByText(words).first().waitFor();
    const tookMs = performance.now() - startedAt;
    const tasks = await page.evaluate(() => (globalThis as unknown as { longTasks: number[] }).longTasks);
    tell(`${name}: there after`, tookMs, 'ms');
    tell(`${name}: longest task`, Math.max(0, ...tasks), 'ms');
  }
}

/** Reports the time from the key to the first frame with the next record's position, picture and tree. */
async function tellReview(page: Page): Promise<void> {
  await page.goto(`${url}/records?status=any`);
  await page.getByRole('treeitem').first().waitFor();
  const times: number[] = [];
  for (let key = 0; key < keys; key += 1) {
    await sleep(lookMs);
    // The browser must listen before the key is pressed.
    await page.evaluate(listenForKey);
    await page.keyboard.press('j');
    times.push(await page.evaluate(() => (globalThis as unknown as Painted).painted));
  }
  tell('review desk, key to paint: median', percentile(times, 0.5), 'ms');
  tell('review desk, key to paint: 95 of 100', percentile(times, 0.95), 'ms', 'at most 60');
}

interface Painted {
  painted: Promise<number>;
}

/** Runs in the browser. */
function listenForKey(): void {
  const position = (): string | null => document.querySelector('header [role=status]')?.textContent ?? null;
  const picture = (): HTMLImageElement | null => document.querySelector('img[alt="What the screen shows"]');
  const node = (): string | null => document.querySelector('[role=treeitem]')?.textContent ?? null;
  const [oldPosition, oldPicture, oldNode] = [position(), picture()?.src, node()];
  const painted = new Promise<number>((resolve) => {
    document.addEventListener(
      'keydown',
      ({ timeStamp }) => {
        const look = (): void => {
          const now = picture();
          const hasPicture = now !== null && now.src !== oldPicture && now.complete;
          const isThere = position() !== oldPosition && hasPicture && node() !== null && node() !== oldNode;
          if (!isThere) return void requestAnimationFrame(look);
          // A message sent in a frame arrives after the paint.
          const { port1, port2 } = new MessageChannel();
          port1.addEventListener('message', () => resolve(performance.now() - timeStamp));
          port1.start();
          port2.postMessage(null);
        };
        requestAnimationFrame(look);
      },
      { once: true, capture: true },
    );
  });
  Object.assign(globalThis, { painted });
}

/** Reports the frame rate while a run writes a thousand lines per second, and how far the visible lines lag. */
async function tellLog(page: Page): Promise<void> {
  await page.goto(`${url}/runs/${service.liveRunId}`);
  const writing = service.writeFor(liveSeconds);
  await page.getByRole('log').getByText('tapped').first().waitFor();
  const frames = await page.evaluate(
    (ms) =>
      new Promise<number>((resolve) => {
        const startedAt = performance.now();
        let count = 0;
        const draw = (): void => {
          count += 1;
          const passedMs = performance.now() - startedAt;
          if (passedMs < ms) requestAnimationFrame(draw);
          else resolve((count * 1000) / passedMs);
        };
        requestAnimationFrame(draw);
      }),
    (liveSeconds - 4) * 1000,
  );
  await writing;
  tell('live log at 1,000 lines a second', frames, 'frames/s', 'at least 50');
}

/** Reports the time from the acknowledgement of a stored line to the first frame that shows it. */
async function tellNewLines(page: Page): Promise<void> {
  const times: number[] = [];
  for (let index = 0; index < newLines; index += 1) {
    const text = `new line ${index}`;
    await page.evaluate(listenForLine, text);
    await service.host.log(service.liveRunId, [text]);
    const storedAt = Date.now();
    const paintedAt = await page.evaluate(() => (globalThis as unknown as Painted).painted);
    times.push(Math.max(0, paintedAt - storedAt));
    await sleep(lookMs);
  }
  tell('new line, storage to paint: median', percentile(times, 0.5), 'ms');
  tell('new line, storage to paint: 95 of 100', percentile(times, 0.95), 'ms');
}

/** Runs in the browser. */
function listenForLine(text: string): void {
  const painted = new Promise<number>((resolve) => {
    const look = (): void => {
      const log = document.querySelector('[role=log]');
      if (log?.textContent.includes(text) !== true) return void requestAnimationFrame(look);
      // A message sent in a frame arrives after the paint.
      const { port1, port2 } = new MessageChannel();
      port1.addEventListener('message', () => resolve(Date.now()));
      port1.start();
      port2.postMessage(null);
    };
    requestAnimationFrame(look);
  });
  Object.assign(globalThis, { painted });
}
