import type { Page } from 'playwright-core';
import { expect } from 'vitest';

import { findViolations } from './support/axe.ts';
import { openWindow, signIn } from './support/browser.ts';
import { stage } from './support/stage.ts';
import { story } from './support/story.ts';

const here = stage(3);

interface Node {
  text: string | null;
  className: string;
  boundsInScreen: { left: number; top: number; right: number; bottom: number };
  children: Node[];
}

/**
 * Returns the position on the page of a node in the phone's picture, found by its text, or of the switch to the right
 * of it.
 */
async function placeOf(
  page: Page,
  deviceId: string,
  text: string,
  className = '',
): Promise<{ x: number; y: number }> {
  const { screen } = await here.service.call('GET', `/api/v2/devices/${deviceId}/screen?width=16`);
  const { width, height, tree } = screen as { width: number; height: number; tree: { root: Node } };
  const all: Node[] = [tree.root];
  for (const node of all) all.push(...node.children);
  const label = all.find((node) => node.text === text);
  const found =
    className === ''
      ? label
      : all.find(
          (node) =>
            node.className.endsWith(className) &&
            Math.abs(node.boundsInScreen.top - (label?.boundsInScreen.top ?? -1)) < 150,
        );
  const picture = await page.getByRole('img', { name: 'What the screen shows' }).boundingBox();
  if (found === undefined || picture === null) throw new Error(`The phone does not show “${text}”.`);
  const { left, top, right, bottom } = found.boundsInScreen;
  return {
    x: picture.x + (((left + right) / 2) * picture.width) / width,
    y: picture.y + (((top + bottom) / 2) * picture.height) / height,
  };
}

/** Waits until the phone shows the node, and returns its position. */
async function expectPlace(page: Page, deviceId: string, text: string): Promise<{ x: number; y: number }> {
  await expect
    .poll(
      () =>
        placeOf(page, deviceId, text).then(
          () => true,
          () => false,
        ),
      { timeout: 30_000 },
    )
    .toBe(true);
  return await placeOf(page, deviceId, text);
}

const codeOf = (page: Page): Promise<string> => page.locator('.cm-content').innerText();

story(
  'an element is picked and twelve touches are recorded on one phone, and the code runs on another',
  async () => {
    const [pixel = '', , redmi = ''] = await here.service.readyDevices(3);
    const projectId = await here.service.createProject('Recorded', { 'main.ts': '// begin\n' });
    const { page, problems } = await openWindow(here.browser, { viewport: { width: 1440, height: 1000 } });
    await signIn(page, here.service.url, here.service.token);
    await page.goto(`${here.service.url}/projects/${projectId}?file=main.ts`);
    const phone = page.getByRole('region', { name: 'Phone', exact: true });
    await page.getByLabel('Google Pixel 8').check();
    await phone.getByRole('img', { name: 'What the screen shows' }).waitFor();
    await page.locator('.cm-content').click();
    await page.keyboard.press('Control+End');

    // A click shows the code, a button inserts it; the phone itself is not touched.
    const icon = await placeOf(page, pixel, 'Settings');
    await expect
      .poll(async () => {
        await page.mouse.click(icon.x, icon.y);
        return phone.getByRole('button', { name: /^Insert/ }).count();
      })
      .toBeGreaterThan(0);
    expect(await findViolations(page)).toEqual([]);
    await phone
      .getByRole('button', { name: /^Insert/ })
      .first()
      .click();
    await page.getByText("await (await agent.actions.waitForText('Settings')).tap();").waitFor();
    await page.locator('.cm-content').click();
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Delete');

    await phone.getByRole('button', { name: 'Record' }).click();
    let written = await codeOf(page);
    /** A touch is written as soon as the phone has come to rest. */
    const rests = async (): Promise<void> => {
      await expect.poll(() => codeOf(page), { timeout: 30_000 }).not.toBe(written);
      await phone.getByText('Recording.').waitFor();
      written = await codeOf(page);
    };
    const touch = async (text: string, className = ''): Promise<void> => {
      const { x, y } = await placeOf(page, pixel, text, className);
      await page.mouse.click(x, y);
    };
    const scroll = async (): Promise<void> => {
      const box = await phone.getByRole('img').boundingBox();
      if (box === null) throw new Error('There is no picture.');
      const x = box.x + box.width / 2;
      // A drag moves the finger instead of the page's selection.
      await page.evaluate(() => getSelection()?.selectAllChildren(document.body));
      await page.mouse.move(x, box.y + box.height * 0.8);
      await page.mouse.down();
      await page.mouse.move(x, box.y + box.height * 0.3, { steps: 8 });
      await page.mouse.up();
      await phone.getByText('Recording.').waitFor();
    };
    const press = (name: string): Promise<void> => phone.getByRole('button', { name }).click();
    await press('Home');
    await rests();
    await touch('Settings');
    await rests();
    await touch('Bluetooth', 'Switch');
    await rests();
    await touch('Airplane mode', 'Switch');
    await rests();
    await touch('Network & internet');
    await rests();
    await touch('Treat as metered', 'Switch');
    await rests();
    await press('Back');
    await rests();
    await touch('Display');
    await rests();
    await touch('Dark theme', 'Switch');
    await rests();
    await press('Back');
    await rests();
    await scroll();
    const isThere = (): Promise<boolean> =>
      placeOf(page, pixel, 'About phone').then(
        () => true,
        () => false,
      );
    await expect.poll(isThere, { timeout: 30_000 }).toBe(true);
    await touch('About phone');
    await rests();
    await press('Home');
    await rests();
    await phone.getByRole('button', { name: 'Stop recording' }).click();
    const code = await codeOf(page);
    expect(code).toContain("f.isSwitch().rightOf((g) => g.hasText('Bluetooth'))");
    expect(code).toContain("agent.actions.scrollTo('About phone')");
    expect(code).not.toMatch(/actions\.(tap|swipe)\(/);
    await phone.getByRole('button', { name: 'Pick' }).click();
    expect(await findViolations(page)).toEqual([]);

    // Runs on a phone of another size.
    await page.getByLabel('Google Pixel 8').uncheck();
    await page.getByLabel('Xiaomi Redmi Note 13').check();
    await page.getByRole('region', { name: 'Run' }).getByRole('button', { name: 'Run', exact: true }).click();
    const output = page.getByRole('region', { name: 'Output' });
    await output.getByText('completed').waitFor({ timeout: 120_000 });
    await placeOf(page, redmi, 'Form');

    // A selection runs alone, with its line numbers in the file; the running line is marked.
    await page.locator('.cm-content').click();
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Delete');
    await page.keyboard.insertText(
      "throw new Error('not selected');\nconsole.log('chosen');\nawait agent.actions.sleep(4000);\n",
    );
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Shift+Control+End');
    await page.keyboard.press('Control+Shift+Enter');
    await output.getByRole('log').getByText('chosen', { exact: true }).waitFor();
    await page.locator('.cm-running').getByText("console.log('chosen')").waitFor();
    await output.getByRole('button', { name: 'main.ts:2' }).waitFor();
    await output.getByText('completed').waitFor();
    expect(await page.locator('.cm-running').count()).toBe(0);
    expect(problems).toEqual([]);
  },
);

story('what somebody does in control of a phone becomes the code of a new project', async () => {
  const [pixel = ''] = await here.service.readyDevices(3);
  const { page, problems } = await openWindow(here.browser, { viewport: { width: 1440, height: 1000 } });
  await signIn(page, here.service.url, here.service.token);
  await page.goto(`${here.service.url}/devices/${pixel}?tab=control`);
  await page.getByRole('button', { name: 'Take control' }).click();
  const recording = page.getByRole('region', { name: 'Recording' });
  await recording.getByRole('button', { name: 'Record' }).click();
  const steps = recording.getByRole('listitem');
  const after = async (count: number): Promise<void> => {
    await expect.poll(() => steps.count(), { timeout: 30_000 }).toBeGreaterThanOrEqual(count);
    await recording.getByText('Recording.').waitFor();
  };
  await page.getByRole('button', { name: 'Home' }).click();
  await after(1);
  const icon = await placeOf(page, pixel, 'Settings');
  await page.mouse.click(icon.x, icon.y);
  await after(2);
  await recording.getByRole('button', { name: 'Stop recording' }).click();
  await recording.getByText(/^\d+ steps recorded\.$/).waitFor();
  expect(await findViolations(page)).toEqual([]);

  await recording.getByRole('button', { name: 'Create a project' }).click();
  await page.getByLabel('Name').fill('Opens the settings');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/projects\/[^/?]+/);
  await page.getByText("await agent.actions.launchApp('com.android.settings');").waitFor();
  expect(problems).toEqual([]);
});

story('a password that is typed while a recording is on is a secret, and in no code', async () => {
  const [pixel = ''] = await here.service.readyDevices(3);
  // The page of the previous test releases the phone with a delay, which ends runs in flight on it.
  const isFree = async (): Promise<boolean> => {
    const { device } = await here.service.call('GET', `/api/v2/devices/${pixel}`);
    return (device as { lease: unknown }).lease === null;
  };
  await expect.poll(isFree, { timeout: 90_000 }).toBe(true);
  const form = { type: 'launch_app', package_name: 'dev.phalanx.sample.form' };
  await here.service.call('POST', `/api/v2/devices/${pixel}/input`, form);
  const { page, problems } = await openWindow(here.browser, { viewport: { width: 1440, height: 1000 } });
  await signIn(page, here.service.url, here.service.token);
  await page.goto(`${here.service.url}/devices/${pixel}?tab=control`);
  await page.getByRole('button', { name: 'Take control' }).click();
  const recording = page.getByRole('region', { name: 'Recording' });
  await recording.getByRole('button', { name: 'Record' }).click();
  const touched = await expectPlace(page, pixel, 'Password');
  await page.mouse.click(touched.x, touched.y);
  await recording.getByText('Recording.').waitFor();
  await page.getByLabel('Text', { exact: true }).fill('Secret123');
  await page.keyboard.press('Enter');
  await recording.getByText("await agent.secrets.type('PASSWORD');").waitFor();
  await recording.getByRole('button', { name: 'Stop recording' }).click();
  await recording.getByRole('button', { name: 'Create a project' }).click();
  await page.getByLabel('Name').fill('Signs in');
  await page.getByText('as secrets of the project: PASSWORD').waitFor();
  expect(await findViolations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.waitForURL(/\/projects\/[^/?]+/);
  await page.getByText("await agent.secrets.type('PASSWORD');").waitFor();
  expect(await codeOf(page)).not.toContain('Secret123');
  const [, projectId = ''] = /projects\/([^/?]+)/.exec(page.url()) ?? [];
  const { secrets } = await here.service.call('GET', `/api/v2/automation-project/${projectId}/secrets`);
  expect(secrets).toMatchObject([{ name: 'PASSWORD' }]);
  expect(problems).toEqual([]);
});
