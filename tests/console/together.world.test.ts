import type { UiNode } from '@phalanx/protocol';
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

import { until } from '@phalanx/host/testing/until';
import { findViolations } from './support/axe.ts';
import { openWindow, signIn, type Watched } from './support/browser.ts';
import { writeAtEnd } from './support/paste.ts';
import { stage } from './support/stage.ts';
import { story } from './support/story.ts';

const here = stage(1);

/** Creates a user with a token. */
async function createUser(name: string): Promise<{ id: string; token: string; tokenId: string }> {
  const { user } = await here.service.call('POST', '/api/v2/users', { name });
  const { id } = user as { id: string };
  const { token, secret } = await here.service.call('POST', '/api/v2/tokens', {
    name: 'laptop',
    user_id: id,
  });
  return { id, token: String(secret), tokenId: (token as { id: string }).id };
}

const opened: Watched[] = [];
const problems = (): string[] => opened.flatMap((window) => window.problems);

async function openAs(token: string, place: string): Promise<Page> {
  const window = await openWindow(here.browser);
  opened.push(window);
  const { page } = window;
  await signIn(page, here.service.url, token);
  await page.goto(`${here.service.url}${place}`);
  return page;
}

story('two editors of a file, and one who may only look', async () => {
  const projectId = await here.service.createProject('Shared', { 'main.ts': "console.log('one');\n" });
  const [ada, bob, eve] = [await createUser('Ada'), await createUser('Bob'), await createUser('Eve')];
  const owner = await openAs(here.service.token, `/projects/${projectId}`);
  await owner.getByRole('button', { name: 'Share' }).click();
  await owner.getByLabel('User name').fill('ad');
  await owner.locator('datalist option[value="Ada"]').waitFor({ state: 'attached' });
  for (const name of ['Ada', 'Bob']) {
    await owner.getByLabel('User name').fill(name);
    await owner.getByRole('dialog').getByRole('button', { name: 'Share', exact: true }).click();
    await owner.getByLabel(`What ${name} may do`).waitFor();
  }
  await owner.getByLabel('User name').fill('Eve');
  await owner.getByLabel('Role', { exact: true }).selectOption('shared_viewer');
  await owner.getByRole('dialog').getByRole('button', { name: 'Share', exact: true }).click();
  await owner.getByLabel('What Eve may do').waitFor();

  const [first, second] = [
    await openAs(ada.token, `/projects/${projectId}`),
    await openAs(bob.token, `/projects/${projectId}`),
  ];
  await first.locator('.cm-content').getByText('one').waitFor();
  await second.locator('.cm-content').getByText('one').waitFor();
  await writeAtEnd(second, "console.log('of Bob');\n");
  await second.getByText('Unsaved, kept in this browser').waitFor();
  await writeAtEnd(first, "console.log('of Ada');\n");
  await first.keyboard.press('Control+s');
  await first.getByText(/^Saved at/).waitFor();
  // Reported before Bob saves.
  await second.getByText('This file was saved elsewhere').waitFor();
  await second.keyboard.press('Control+s');
  expect(await here.service.readFile(projectId, 'main.ts')).toContain('of Ada');
  await second.getByRole('button', { name: 'Show theirs' }).click();
  await second.getByRole('region', { name: 'Their text' }).getByText('of Ada').waitFor();
  await second.getByRole('button', { name: 'Overwrite with mine' }).click();
  await second.getByText(/^Saved at/).waitFor();
  expect(await here.service.readFile(projectId, 'main.ts')).toContain('of Bob');

  const viewer = await openAs(eve.token, `/projects/${projectId}`);
  await viewer.locator('.cm-content').getByText('of Bob').waitFor();
  const save = viewer.getByRole('button', { name: 'Save' });
  expect(await save.getAttribute('aria-disabled')).toBe('true');
  expect(await save.getAttribute('title')).toBe('administrator shared this project as read-only.');
  await writeAtEnd(viewer, 'nothing comes of it');
  expect(await viewer.locator('.cm-content').textContent()).not.toContain('nothing comes of it');
});

story('what is typed in one window of a browser stands in its other window, and is no conflict', async () => {
  const projectId = await here.service.createProject('Windows', { 'main.ts': '// begin\n' });
  const window = await openWindow(here.browser);
  opened.push(window);
  const one = window.page;
  await signIn(one, here.service.url, here.service.token);
  const other = await window.context.newPage();
  const text = (page: Page): Promise<string> => page.locator('.cm-content').innerText();
  for (const page of [one, other]) {
    await page.goto(`${here.service.url}/projects/${projectId}`);
    await page.locator('.cm-content').getByText('begin').waitFor();
  }
  await writeAtEnd(one, '// of one\n');
  await expect.poll(() => text(other)).toContain('of one');
  await other.getByText('Unsaved, kept in this browser').waitFor();
  await writeAtEnd(other, '// of the other\n');
  await expect.poll(() => text(one)).toMatch(/of one\s+\/\/ of the other/);
  await one.bringToFront();
  await one.locator('.cm-content').click();
  await one.keyboard.press('Control+s');
  await one.getByText(/^Saved at/).waitFor();
  await other.getByText('Saved', { exact: true }).waitFor();
  expect(await text(other)).toMatch(/of one\s+\/\/ of the other/);
  expect(await other.getByText('This file was saved elsewhere').count()).toBe(0);

  // Leaving the file in one window does not affect the other one.
  await writeAtEnd(one, '// typed last\n');
  await expect.poll(() => text(other)).toContain('typed last');
  await other.close();
  await one.reload();
  await expect.poll(() => text(one)).toContain('typed last');
});

story('a lost connection and a revoked token lose nothing that was typed', async () => {
  const projectId = await here.service.createProject('Kept', { 'main.ts': '// begin\n' });
  const { id, token, tokenId } = await createUser('Grace');
  await here.service.call('PUT', `/api/v2/automation-project/${projectId}/members/${id}`, {
    role: 'shared_editor',
  });
  const { page, context } = await openWindow(here.browser);
  await signIn(page, here.service.url, token);
  await page.goto(`${here.service.url}/projects/${projectId}`);
  await page.getByText('Live').waitFor();
  await page.locator('.cm-content').getByText('begin').waitFor();

  await context.setOffline(true);
  await writeAtEnd(page, '// typed without a connection\n');
  await page.keyboard.press('Control+s');
  await page.getByText('The service does not answer.').waitFor();
  await context.setOffline(false);
  await page.keyboard.press('Control+s');
  await page.getByText(/^Saved at/).waitFor();
  expect(await here.service.readFile(projectId, 'main.ts')).toContain('typed without a connection');

  await writeAtEnd(page, '// typed before the token went\n');
  await page.getByText('Unsaved, kept in this browser').waitFor();
  await here.service.call('DELETE', `/api/v2/tokens/${tokenId}`, {});
  const again = page.getByRole('dialog', { name: 'Sign in again' });
  await again.waitFor();
  const { secret } = await here.service.call('POST', '/api/v2/tokens', { name: 'new', user_id: id });
  await again.getByLabel('API token').fill(String(secret));
  await again.getByRole('button', { name: 'Sign in' }).click();
  await again.waitFor({ state: 'detached' });
  await page.locator('.cm-content').getByText('typed before the token went').waitFor();
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+s');
  await page.getByText(/^Saved at/).waitFor();
  expect(await here.service.readFile(projectId, 'main.ts')).toContain('typed before the token went');
});

story('a launch from the fleet tells what became of it on each phone', async () => {
  const page = await openAs(here.service.token, '/devices');
  await page.getByText('SIM0001').waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.getByText('1 selected').waitFor();
  await page.getByRole('button', { name: 'Launch…' }).click();
  await page.getByLabel('Project').selectOption({ label: 'Kept' });
  await page.getByRole('dialog').getByRole('button', { name: 'Launch', exact: true }).click();
  await page.getByRole('region', { name: 'Outcome on each phone' }).getByText('started').waitFor();
  await page.getByRole('dialog').getByRole('link', { name: 'Open run' }).click();
  await page.getByRole('heading', { name: 'Kept' }).waitFor();
  await page.getByText('completed').waitFor();
});

story('a run is followed while it writes, and stopped', async () => {
  const content =
    "for (let line = 1; ; line += 1) {\n  console.log('line', line);\n  await agent.actions.waitForText('never', { timeoutMs: 50 }).catch(() => console.warn('not there'));\n}\n";
  const projectId = await here.service.createProject('Endless', { 'main.ts': content });
  const [deviceId] = await here.service.readyDevices(1);
  const body = { automationId: projectId, command: 'start', device_ids: [deviceId] };
  const page = await openAs(here.service.token, '/runs');
  await here.service.call('POST', '/api/v2/devices/launchAutomation', body);
  await page.getByRole('link', { name: 'Endless' }).click();
  const lines = page.getByRole('log');
  await lines.getByText('line 3', { exact: true }).waitFor();
  await page.getByRole('group', { name: 'Levels' }).getByRole('button', { name: /^log/ }).click();
  await lines.getByText('not there').first().waitFor();
  expect(await lines.getByText('line 1', { exact: true }).count()).toBe(0);
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('stopped').first().waitFor();
  await page.goto(`${here.service.url}/devices/${deviceId}`);
  await page.getByText('ready').first().waitFor();
});

const form = 'dev.phalanx.sample.form';

/** Returns the nodes of a phone's screen, by text or ID. */
async function nodesOf(deviceId: string) {
  const { screen } = await here.service.call('GET', `/api/v2/devices/${deviceId}/screen?width=200`);
  const { tree, width, height } = screen as { tree: { root: UiNode }; width: number; height: number };
  const all = (node: UiNode): UiNode[] => [node, ...(node.children ?? []).flatMap(all)];
  const find = (name: string): UiNode | undefined =>
    all(tree.root).find(({ text, viewId }) => text === name || viewId?.endsWith(`/${name}`) === true);
  return { width, height, find };
}

/** Returns the position of a node in a picture of the phone. */
async function placeIn(picture: Locator, deviceId: string, name: string): Promise<{ x: number; y: number }> {
  const { width, height, find } = await nodesOf(deviceId);
  const { left, right, top, bottom } = find(name)?.boundsInScreen ?? { left: 0, right: 0, top: 0, bottom: 0 };
  const box = await picture.boundingBox();
  if (box === null) throw new Error('there is no picture');
  return { x: ((left + right) / 2 / width) * box.width, y: ((top + bottom) / 2 / height) * box.height };
}

const shows = (deviceId: string, name: string, text?: string): Promise<unknown> =>
  until(`${name} on the screen`, async () => {
    const found = (await nodesOf(deviceId)).find(name);
    return found !== undefined && (text === undefined || found.text === text) ? found : undefined;
  });

story('a phone is shared, controlled, touched, and given back', async () => {
  const [deviceId = ''] = await here.service.readyDevices(1);
  const place = `/devices/${deviceId}?tab=control`;
  const bea = await createUser('Bea');
  const owner = await openAs(here.service.token, place);
  await owner.getByRole('button', { name: 'Share' }).click();
  await owner.getByLabel('User name').fill('Bea');
  expect(await findViolations(owner)).toEqual([]);
  await owner.getByRole('dialog').getByRole('button', { name: 'Share', exact: true }).click();
  await owner.getByLabel('What Bea may do').waitFor();
  await owner.keyboard.press('Escape');
  // The page shows the phone once she has accepted it.
  const other = await openAs(bea.token, '/devices');
  await other.getByRole('button', { name: /^Accept / }).click();
  await other.getByRole('button', { name: /^Accept / }).waitFor({ state: 'detached' });
  await other.goto(`${here.service.url}${place}`);
  await other.getByRole('img', { name: 'What the screen shows' }).waitFor();

  // All users see who controls it, and no one else can touch it.
  await owner.getByRole('button', { name: 'Take control' }).click();
  const phone = owner.getByRole('application', { name: 'The phone: touch it, or type' });
  await phone.waitFor();
  await owner.getByRole('img', { name: 'What the screen shows' }).waitFor();
  await other.getByText('controls this phone.').waitFor();
  expect(await findViolations(owner)).toEqual([]);

  // Touches, keys and text arrive in order.
  await here.service.call('POST', `/api/v2/devices/${deviceId}/input`, {
    type: 'launch_app',
    package_name: form,
  });
  await shows(deviceId, 'Registration');
  await phone.click({ position: await placeIn(phone, deviceId, 'name') });
  await phone.pressSequentially('Ada Lovelace', { delay: 5 });
  await shows(deviceId, 'name', 'Ada Lovelace');
  await phone.press('Backspace');
  await shows(deviceId, 'name', 'Ada Lovelac');
  await owner.getByLabel('Text', { exact: true }).fill('e 🏔');
  await owner.getByRole('button', { name: 'Send' }).click();
  await shows(deviceId, 'name', 'Ada Lovelace 🏔');
  await phone.focus();
  await owner.keyboard.press('Escape');
  await until('the keyboard to go', async () => (await nodesOf(deviceId)).find('city'));
  const box = (await phone.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  for (let drags = 0; drags < 3; drags += 1) {
    await owner.mouse.move(box.x + box.width / 2, box.y + box.height * 0.8);
    await owner.mouse.down();
    await owner.mouse.move(box.x + box.width / 2, box.y + box.height * 0.3, { steps: 5 });
    await owner.mouse.up();
  }
  await shows(deviceId, 'submit');
  await owner.getByRole('button', { name: 'Home' }).click();
  await until('the form to go', async () =>
    (await nodesOf(deviceId)).find('submit') === undefined ? true : undefined,
  );

  await owner.getByRole('button', { name: 'End control' }).click();
  await other.getByRole('button', { name: 'Take control' }).click();
  await owner.getByText('Bea controls this phone.').waitFor();
  // Leaving the page releases the phone.
  await other.getByRole('tab', { name: 'About' }).click();
  await other.getByText('Free storage').waitFor();
  await owner.getByText('no one else can touch it').waitFor();
  expect(problems()).toEqual([]);
});
