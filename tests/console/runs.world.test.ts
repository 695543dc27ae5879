import { readFile } from 'node:fs/promises';
import { until } from '@phalanx/host/testing/until';
import type { Locator } from 'playwright-core';
import { expect } from 'vitest';

import { findViolations } from './support/axe.ts';
import { openWindow, signIn } from './support/browser.ts';
import { stage } from './support/stage.ts';
import { story } from './support/story.ts';

const sample = new URL('../../apps/cli/samples/out-of-steps.ts', import.meta.url);
const here = stage(1);
const widths = [1280, 1920, 390];

/** Number of pixels of the box or its content that lie outside of the page's visible part. */
const hiddenPixels = (box: Locator): Promise<number> =>
  box.evaluate((element) => {
    const visible = element.parentElement?.getBoundingClientRect().right ?? 0;
    return Math.max(
      element.getBoundingClientRect().right - visible,
      ...[element, ...element.querySelectorAll('*')].map(({ scrollWidth, clientWidth }) =>
        clientWidth === 0 ? 0 : scrollWidth - clientWidth,
      ),
    );
  });

story('a failed run shows its whole error once, and one out of steps its stage and state', async () => {
  const [deviceId = ''] = await here.service.readyDevices(1);
  const long = `flows/${'with-a-long-name-'.repeat(6)}pay`;
  const failing = await here.service.createProject('Checkout', {
    [`${long}.ts`]: `const missing = 'the button ${'with a long name '.repeat(8)}';
export const pay = () => agent.actions.waitForText(missing, { timeoutMs: 300 });`,
    'main.ts': `import { pay } from './${long}.ts';\nawait pay();`,
  });
  const failed = await here.service.launch(deviceId, failing, { address: 'x'.repeat(300) });
  const walk = await here.service.createProject('Walk', { 'main.ts': await readFile(sample, 'utf8') });
  const lostWay = await here.service.launch(deviceId, walk);
  expect(lostWay).toMatchObject({ status: 'completed', outcome: 'out_of_steps' });

  const { page, problems } = await openWindow(here.browser);
  await signIn(page, here.service.url, here.service.token);
  await page.goto(`${here.service.url}/runs/${String(failed['run_id'])}`);
  const happened = page.getByRole('region', { name: 'What happened' });
  const parameters = page.getByRole('region', { name: 'Parameters' });
  await parameters.waitFor();
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 });
    expect(await hiddenPixels(happened), `error at ${width}`).toBeLessThanOrEqual(0);
    expect(await hiddenPixels(parameters), `parameters at ${width}`).toBeLessThanOrEqual(0);
  }
  expect((await happened.innerText()).split('Waited').length - 1).toBe(1);
  await happened.getByRole('link', { name: /main\.ts:2/ }).waitFor();
  expect(await findViolations(page)).toEqual([]);

  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`${here.service.url}/runs`);
  const { screenState, nextStage } = await lastScreenOf(String(lostWay['run_id']));
  const row = page.getByRole('row').filter({ hasText: 'Walk' });
  await row.getByText('administrator · first token').waitFor();
  await row.getByText('uncommitted').waitFor();
  await page.getByRole('note', { name: 'Runs that match' }).getByText('2', { exact: true }).waitFor();
  await row.getByText(screenState, { exact: true }).waitFor();
  await row.getByText(nextStage, { exact: true }).waitFor();
  const search = page.getByRole('searchbox', { name: 'Name or error' });
  await search.fill('waited');
  await row.waitFor({ state: 'detached' });
  await page.getByRole('row').filter({ hasText: 'Waited' }).first().waitFor();
  await page.getByRole('note', { name: 'Runs that match' }).getByText('1', { exact: true }).waitFor();
  await search.fill('nothing like it');
  await page.getByText('No runs match').waitFor();
  await search.fill('');
  await row.getByRole('link').click();
  await happened.getByText(screenState, { exact: true }).waitFor();
  await happened.getByText(nextStage, { exact: true }).waitFor();
  expect(await findViolations(page)).toEqual([]);
  expect(problems).toEqual([]);
});

async function lastScreenOf(runId: string): Promise<{ screenState: string; nextStage: string }> {
  const { run } = (await here.service.call('GET', `/api/v2/runs/${runId}`)) as {
    run: { last_screen: { screen: { screenState: string; nextStage: string } } };
  };
  return run.last_screen.screen;
}

story('the inspector proposes code by the label beside a switch, which works after a tap too', async () => {
  const [deviceId = ''] = await here.service.readyDevices(1);
  const settings = await here.service.createProject('Settings', {
    'main.ts':
      "await agent.actions.launchApp('com.android.settings');\nawait agent.actions.waitForText('Vibrate for calls');",
  });
  expect(await here.service.launch(deviceId, settings)).toMatchObject({ status: 'completed' });
  const { page, problems, context } = await openWindow(here.browser);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await signIn(page, here.service.url, here.service.token);
  await page.goto(`${here.service.url}/devices/${deviceId}`);
  const first = page.getByRole('region', { name: 'Node' }).locator('code').first();
  const wait =
    "agent.actions.waitForNode((f) => f.isSwitch().rightOf((g) => g.hasText('Vibrate for calls')))";
  const choose = async (state: string): Promise<void> => {
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByLabel('Search the tree').fill('Vibrate for calls');
    const switches = page.getByRole('treeitem').filter({ hasText: 'Switch' });
    await expect.poll(() => switches.filter({ hasText: '“On”' }).count()).toBe(state === 'On' ? 1 : 0);
    await switches
      .filter({ hasText: `“${state}”` })
      .last()
      .click();
    await expect.poll(() => first.textContent()).toBe(wait);
  };
  await choose('On');
  await page.getByText('✓ finds this node as the nearest of').waitFor();
  await page.getByRole('button', { name: 'Copy the code that finds it by relation' }).first().click();
  const code = await page.evaluate(() => navigator.clipboard.readText());
  expect(code).toBe(`await (await ${wait}).tap();`);
  expect(await findViolations(page)).toEqual([]);
  const tap = await here.service.createProject('Tap', { 'main.ts': code });
  expect(await here.service.launch(deviceId, tap)).toMatchObject({ status: 'completed' });
  await choose('Off');
  expect(problems).toEqual([]);
});

story('the files of a run are listed, saved by the browser, and shown when they are pictures', async () => {
  const [deviceId = ''] = await here.service.readyDevices(1);
  const attaching = await here.service.createProject('Files', {
    'main.ts': `const { base64 } = await agent.actions.screenshot({ format: 'png', maxWidth: 100 });
await agent.run.attach('screen.png', Uint8Array.from(atob(base64), (byte) => byte.charCodeAt(0)));
await agent.run.attach('page.html', '<script>document.title = "run"</script>');
await agent.run.attach('${'a-long-name-'.repeat(14)}.csv', 'a,b');`,
  });
  const run = await here.service.launch(deviceId, attaching);
  expect(run).toMatchObject({ status: 'completed' });

  const { page, problems } = await openWindow(here.browser);
  await signIn(page, here.service.url, here.service.token);
  await page.goto(`${here.service.url}/runs/${String(run['run_id'])}`);
  const files = page.getByRole('list', { name: 'Files of the run' });
  const picture = files.getByRole('img', { name: 'screen.png' });
  await expect
    .poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth))
    .toBeGreaterThan(10);
  expect(await files.getByRole('img').count()).toBe(1);
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 });
    expect(await hiddenPixels(files), `files at ${width}`).toBeLessThanOrEqual(0);
  }
  const saved = page.waitForEvent('download');
  await files.getByRole('link', { name: 'page.html' }).click();
  const download = await saved;
  expect(download.suggestedFilename()).toBe('page.html');
  expect(await readFile(await download.path(), 'utf8')).toContain('<script>');
  // The plain address of the file also downloads it instead of displaying it.
  const again = page.waitForEvent('download');
  const address = `${here.service.url}/api/v2/runs/${String(run['run_id'])}/files/page.html`;
  await page.goto(address).catch(() => undefined);
  expect((await again).suggestedFilename()).toBe('page.html');
  expect(await findViolations(page)).toEqual([]);
  expect(problems).toEqual([]);
});

story('a log of sixty thousand lines opens at its end', async () => {
  const [deviceId = ''] = await here.service.readyDevices(1);
  const lines = 60_000;
  const project = await here.service.createProject('Talkative', {
    'main.ts': `for (let line = 1; line <= ${lines}; line += 1) console.log('line', line);`,
  });
  const run = await here.service.launch(deviceId, project);
  const { page, problems } = await openWindow(here.browser);
  await signIn(page, here.service.url, here.service.token);
  await page.goto(`${here.service.url}/runs`);
  const link = page.getByRole('link', { name: 'Talkative' }).first();
  await link.waitFor();
  const last = page.getByRole('log').getByText(`line ${lines}`, { exact: true });
  const since = performance.now();
  await link.click();
  await last.waitFor();
  console.log(`the end of ${lines} lines was there after ${Math.round(performance.now() - since)} ms`);
  await page.getByRole('button', { name: 'Time between' }).click();
  await page
    .getByRole('log')
    .getByText(/^\+\d+ ms$/)
    .first()
    .waitFor();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download log' }).click();
  const text = await readFile(await (await download).path(), 'utf8');
  expect(text.match(/\bline \d+$/gm)).toHaveLength(lines);
  expect(run).toMatchObject({ status: 'completed' });
  expect(problems).toEqual([]);
});

story('a log that nobody scrolls stays at its end, however slow the browser is', async () => {
  const [deviceId = ''] = await here.service.readyDevices(1);
  const source =
    "for (let line = 1; line <= 600; line += 1) {\n  console.log('line', line, 'x'.repeat(line % 300));\n  if (line % 5 === 0) await agent.actions.waitForText('never', { timeoutMs: 20 }).catch(() => undefined);\n}\nconsole.log('the end');\nthrow new Error('over');\n";
  const project = await here.service.createProject('Slow reader', { 'main.ts': source });
  const start = async (): Promise<string> => {
    const launch = { automationId: project, command: 'start', device_ids: [deviceId] };
    const { devices } = await here.service.call('POST', '/api/v2/devices/launchAutomation', launch);
    const [{ run_id: runId } = { run_id: '' }] = devices as { run_id: string }[];
    return `${here.service.url}/runs/${runId}`;
  };
  const address = await start();
  const { page, problems } = await openWindow(here.browser);
  await signIn(page, here.service.url, here.service.token);
  const chromium = await page.context().newCDPSession(page);
  await chromium.send('Emulation.setCPUThrottlingRate', { rate: 8 });
  await page.goto(address);
  const log = page.getByRole('log');
  await log.waitFor();
  const paused: string[] = [];
  await until('the end of the run', async () => {
    paused.push(...(await page.getByRole('button', { name: /Paused/ }).allTextContents()));
    const { runs } = await here.service.call('GET', `/api/v2/runs?automation_id=${project}`);
    return (runs as { ended_at: number | null }[]).every(({ ended_at }) => ended_at !== null);
  });
  await log.getByText('the end', { exact: true }).waitFor();
  expect(paused).toEqual([]);
  await chromium.send('Emulation.setCPUThrottlingRate', { rate: 1 });

  await page.goto(await start());
  await log
    .getByText(/^line \d{3} x/)
    .first()
    .waitFor();
  await log.hover();
  await page.mouse.wheel(0, -300);
  await page.getByRole('button', { name: /^Paused · .*Resume/ }).click();
  await page.getByRole('button', { name: /Paused/ }).waitFor({ state: 'detached' });
  expect(problems).toEqual([]);
});
