import { existsSync } from 'node:fs';
import path from 'node:path';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';

/** Program names of Chromium, Debian's first. */
const programs = ['chromium', 'chromium-browser', 'google-chrome'];

export function findChromium(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  return programs
    .flatMap((name) => folders.map((folder) => path.join(folder, name)))
    .find((file) => existsSync(file));
}

/** Opens Chromium. The browser ends with this process in any case, because the pipe between them closes. */
export async function openBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error('chromium is not installed');
  return chromium.launch({
    executablePath,
    // Chromium's own sandbox does not work in a container; the browser opens only our own pages.
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
    handleSIGHUP: false,
    handleSIGINT: false,
    handleSIGTERM: false,
  });
}

let shared: Promise<Browser> | undefined;

/**
 * Returns the browser shared by all test files of a worker, because each start of Chromium creates six processes.
 * Each file closes its windows.
 */
export async function sharedBrowser(): Promise<Browser> {
  const open = await shared;
  if (open?.isConnected() === true) return open;
  shared = openBrowser();
  return shared;
}

export async function closeWindows(): Promise<void> {
  const browser = await shared;
  for (const context of browser?.contexts() ?? []) await context.close();
}

export interface Watched {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Policy violations and uncaught errors. */
  readonly problems: readonly string[];
}

/** Opens a separate, signed-out browser window that records problems. */
export async function openWindow(
  browser: Browser,
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<Watched> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    reducedMotion: 'reduce',
    ...options,
  });
  context.setDefaultTimeout(30_000);
  const page = await context.newPage();
  const problems: string[] = [];
  await page.addInitScript(() => {
    document.addEventListener(
      'securitypolicyviolation',
      ({ violatedDirective, sourceFile, lineNumber, columnNumber }) =>
        console.error(
          `${violatedDirective} at ${sourceFile}:${lineNumber}:${columnNumber} ${new Error('here').stack ?? ''}`,
        ),
    );
  });
  page.on('pageerror', (error) => problems.push(`${error.name}: ${error.message}`));
  page.on('console', (message) => {
    const text = message.text();
    // Requests that the service refuses on purpose are not errors of the page.
    if (message.type() === 'error' && !text.startsWith('Failed to load resource')) problems.push(text);
  });
  return { page, context, problems };
}

/** Time limit in ms for the first test, which may have to wait for the console's build on a busy machine. */
const buildMs = 120_000;

export async function openConsole(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/`);
  await page.getByLabel('API token').waitFor({ timeout: buildMs });
}

export async function signIn(page: Page, url: string, token: string): Promise<void> {
  await openConsole(page, url);
  await page.getByLabel('API token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
}
