import { until } from '@phalanx/host/testing/until';
import type { Page, Route } from 'playwright-core';
import { expect } from 'vitest';

import { Cable } from '../support/cable.ts';
import { openWindow, signIn, type Watched } from './support/browser.ts';
import { writeAtEnd } from './support/paste.ts';
import { stage } from './support/stage.ts';
import { story } from './support/story.ts';

const cutMs = 30_000;
const endless =
  "for (let line = 1; ; line += 1) {\n  console.log('line', line);\n  await agent.actions.waitForText('never', { timeoutMs: 100 }).catch(() => undefined);\n}\n";
const here = stage(1);
let opened: Watched[] = [];

async function openAt(url: string, place: string): Promise<Page> {
  const window = await openWindow(here.browser);
  opened.push(window);
  await signIn(window.page, url, here.service.token);
  await window.page.goto(`${url}${place}`);
  await window.page.getByText('Live', { exact: true }).waitFor();
  return window.page;
}

const file = '**/api/v2/automation/file/**';
const look = /\/file\/[^/]+\?path=main\.ts$/;
const fileList = '**/api/v2/automation/files/**';

/** Drops replies after the service has handled the requests. */
async function loseAnswers(page: Page, method: string): Promise<() => Promise<void>> {
  const lose = async (route: Route): Promise<void> => {
    if (route.request().method() !== method) return route.fallback();
    await route.fetch();
    await route.abort();
  };
  await page.route(file, lose);
  return () => page.unroute(file, lose);
}

interface Held {
  /** Resolves when the service has replied. */
  answered: () => Promise<unknown>;
  letGo: () => void;
}

/** Holds back the next reply of this kind. */
async function holdNext(page: Page, url: string | RegExp, method: string): Promise<Held> {
  const go = Promise.withResolvers<void>();
  let state: 'awaited' | 'asked' | 'answered' = 'awaited';
  await page.route(url, async (route) => {
    if (state !== 'awaited' || route.request().method() !== method) return route.fallback();
    state = 'asked';
    const response = await route.fetch();
    state = 'answered';
    await go.promise;
    await route.fulfill({ response });
  });
  return {
    answered: () => until(`an answer to ${method} ${url}`, () => state === 'answered'),
    letGo: go.resolve,
  };
}

async function closeAll(): Promise<void> {
  const problems = opened.flatMap((window) => window.problems);
  await Promise.all(opened.map(({ context }) => context.close()));
  opened = [];
  expect(problems).toEqual([]);
}

story(
  'thirty seconds of a line that carries nothing: it is said, nothing is lost, all is current again',
  async () => {
    const cable = await Cable.to(here.service.url);
    const projectId = await here.service.createProject('Night shift', {
      'main.ts': '// begin\n',
      'notes.md': 'before\n',
    });
    const busy = await here.service.createProject('Endless', { 'main.ts': endless });
    const [deviceId = ''] = await here.service.readyDevices(1);
    const launch = { automationId: busy, command: 'start', device_ids: [deviceId] };
    const { devices } = await here.service.call('POST', '/api/v2/devices/launchAutomation', launch);
    const [{ run_id: runId } = { run_id: '' }] = devices as { run_id: string }[];

    const writer = await openAt(cable.url, `/projects/${projectId}?file=main.ts`);
    const reader = await openAt(cable.url, `/projects/${projectId}?file=notes.md`);
    const run = await openAt(cable.url, `/runs/${runId}`);
    const fleet = await openAt(cable.url, '/devices');
    const control = await openAt(cable.url, `/devices/${deviceId}?tab=control`);
    const pages = [writer, reader, run, fleet, control];
    await reader.locator('.cm-content').getByText('before').waitFor();
    await run
      .getByText(/^line \d+$/)
      .first()
      .waitFor();
    await fleet.getByText(/^Running /).waitFor();
    const picture = control.getByRole('img', { name: 'What the screen shows' });
    await picture.waitFor();
    await control.getByRole('button', { name: 'Take control' }).click();
    await control.getByRole('button', { name: 'End control' }).waitFor();

    cable.silence();
    const began = performance.now();
    await writeAtEnd(writer, '// typed in silence\n');
    await writer.keyboard.press('Control+s');
    for (const page of pages) await page.getByText('The connection to the service is lost').waitFor();
    await writer.getByText('The service does not answer.').waitFor();
    await writer.getByText('Unsaved, kept in this browser').waitFor();
    await control.getByText('The connection is lost. Trying again…').waitFor();
    await writeAtEnd(writer, '// and more\n');
    // Input for the phone is sent immediately or not at all.
    for (const name of ['Volume +', 'Volume −', 'Home']) await control.getByRole('button', { name }).click();
    await control.getByText('The input was not sent').first().waitFor();

    await here.service.writeFile(projectId, 'notes.md', 'after\n');
    await here.service.call('POST', `/api/v2/devices/${deviceId}/input`, {
      type: 'launch_app',
      package_name: 'dev.phalanx.sample.form',
    });
    await here.service.call('POST', `/api/v2/runs/${runId}/stop`, {});
    await here.service.readyDevices(1);
    await writer.waitForTimeout(Math.max(0, cutMs - (performance.now() - began)));
    const seen = await picture.getAttribute('src');
    cable.carryOn();

    for (const page of pages) await page.getByText('Live', { exact: true }).waitFor();
    await writer.keyboard.press('Control+s');
    await writer.getByText(/^Saved at/).waitFor();
    expect(await here.service.readFile(projectId, 'main.ts')).toBe(
      '// begin\n// typed in silence\n// and more\n',
    );
    await reader.locator('.cm-content').getByText('after').waitFor();
    await run.getByText('stopped').first().waitFor();
    const { logs } = await here.service.call('GET', `/api/v2/runs/${runId}/logs?limit=1000`);
    const last = (logs as { message: string }[]).at(-1)?.message ?? '';
    await run.getByRole('log').getByText(last, { exact: true }).waitFor();
    await run.getByRole('button', { name: `log ${(logs as unknown[]).length}` }).waitFor();
    await fleet.getByText(/^(Controlled by hand|The phone is ready)/).waitFor();
    await until('another picture', async () => (await picture.getAttribute('src')) !== seen || undefined);
    for (const page of pages) expect(await page.getByText(/connection .* is lost/i).count()).toBe(0);
    // No input was sent late: the app opened in the meantime is still in front.
    const { screen } = await here.service.call('GET', `/api/v2/devices/${deviceId}/screen?width=100`);
    expect(JSON.stringify(screen)).toContain('dev.phalanx.sample.form');
    cable.close();
    await closeAll();
  },
);

story('a save that is made twice, or whose answer is lost, is no conflict with oneself', async () => {
  const projectId = await here.service.createProject('Twice', {
    'main.ts': '// begin\n',
    'other.ts': '// other\n',
  });
  const page = await openAt(here.service.url, `/projects/${projectId}?file=main.ts`);
  await page.locator('.cm-content').getByText('begin').waitFor();
  await writeAtEnd(page, '// twice\n');
  for (let times = 0; times < 4; times += 1) await page.keyboard.press('Control+s');
  await page.getByText(/^Saved at/).waitFor();
  await page.waitForLoadState('networkidle').catch(() => undefined);
  expect(await page.getByText('This file was saved elsewhere').count()).toBe(0);

  const answerAgain = await loseAnswers(page, 'PUT');
  await writeAtEnd(page, '// once more\n');
  await page.keyboard.press('Control+s');
  await page.getByText('The service does not answer.').waitFor();
  await answerAgain();
  await page.keyboard.press('Control+s');
  await page.getByText(/^Saved at/).waitFor();
  expect(await here.service.readFile(projectId, 'main.ts')).toBe('// begin\n// twice\n// once more\n');

  // Another file is opened while a save is in flight.
  await page.route(file, async (route) => {
    if (route.request().method() === 'PUT') await page.waitForTimeout(1000);
    return route.fallback();
  });
  await writeAtEnd(page, '// on its way\n');
  const put = page.waitForResponse((response) => response.request().method() === 'PUT');
  await page.keyboard.press('Control+s');
  await page.getByRole('listitem').getByRole('button', { name: 'other.ts' }).click();
  await page.locator('.cm-content').getByText('// other').waitFor();
  await put;
  await page.getByText('Saved', { exact: true }).waitFor();
  await page.getByRole('listitem').getByRole('button', { name: 'main.ts' }).click();
  await page.locator('.cm-content').getByText('on its way').waitFor();
  await page.getByText('Saved', { exact: true }).waitFor();
  await closeAll();
});

story('what the file was a moment ago is no conflict with a save that came after it', async () => {
  const cable = await Cable.to(here.service.url);
  const projectId = await here.service.createProject('A moment ago', { 'main.ts': '// begin\n' });
  const page = await openAt(cable.url, `/projects/${projectId}?file=main.ts`);
  await page.locator('.cm-content').getByText('begin').waitFor();

  /** Saves, but loses the reply. After the reconnect, the page reads the stored text. */
  const saveWithoutAnswer = async (text: string): Promise<Held> => {
    const answerAgain = await loseAnswers(page, 'PUT');
    await writeAtEnd(page, text);
    await page.keyboard.press('Control+s');
    await page.getByText('The service does not answer.').waitFor();
    await answerAgain();
    const looked = await holdNext(page, look, 'GET');
    cable.cut();
    await looked.answered();
    return looked;
  };

  // That reading gets its reply while a save is in flight.
  const early = await saveWithoutAnswer('// one\n');
  await writeAtEnd(page, '// two\n');
  const save = await holdNext(page, file, 'PUT');
  await page.keyboard.press('Control+s');
  await save.answered();
  const looked = page.waitForResponse(look);
  early.letGo();
  await looked;
  save.letGo();
  await page.getByText(/^Saved at/).waitFor();

  // That reading gets its reply after the save.
  const late = await saveWithoutAnswer('// three\n');
  const list = await holdNext(page, fileList, 'GET');
  await writeAtEnd(page, '// four\n');
  await page.keyboard.press('Control+s');
  await page.getByText(/^Saved at/).waitFor();
  await writeAtEnd(page, '// five\n');
  const lookedLate = page.waitForResponse(look);
  late.letGo();
  await lookedLate;
  list.letGo();
  await page.getByText('Unsaved, kept in this browser').waitFor();
  await page.keyboard.press('Control+s');
  await page.getByText(/^Saved at/).waitFor();
  const all = ['begin', 'one', 'two', 'three', 'four', 'five'].map((word) => `// ${word}\n`).join('');
  expect(await here.service.readFile(projectId, 'main.ts')).toBe(all);
  cable.close();
  await closeAll();
});

story('what is typed while the text of somebody else comes is not lost', async () => {
  const cable = await Cable.to(here.service.url);
  const projectId = await here.service.createProject('At the same time', { 'main.ts': '// begin\n' });
  const page = await openAt(cable.url, `/projects/${projectId}?file=main.ts`);
  const editor = page.locator('.cm-content');
  await editor.getByText('begin').waitFor();
  await here.service.writeFile(projectId, 'main.ts', '// theirs\n');
  const first = await holdNext(page, look, 'GET');
  cable.cut();
  await first.answered();
  const another = await holdNext(page, look, 'GET');
  const looked = page.waitForResponse(look);
  first.letGo();
  await looked;
  await writeAtEnd(page, '// mine\n');
  another.letGo();
  await page.waitForTimeout(500);
  await editor.getByText('// mine').waitFor();
  cable.close();
  await closeAll();
});
