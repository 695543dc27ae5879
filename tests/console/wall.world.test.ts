import type { Device, UiNode } from '@phalanx/protocol';
import { makeApk } from '@phalanx/simulated-phone';
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

import { until } from '@phalanx/host/testing/until';
import { findViolations } from './support/axe.ts';
import { openWindow, signIn } from './support/browser.ts';
import { stage } from './support/stage.ts';
import { story } from './support/story.ts';

const here = stage(3);
const form = 'dev.phalanx.sample.form';

/** Shares the phone with a new user. Returns a function that calls the service as that user. */
async function shareWith(name: string, deviceId: string) {
  const { user } = await here.service.call('POST', '/api/v2/users', { name });
  const { id } = user as { id: string };
  const { secret } = await here.service.call('POST', '/api/v2/tokens', { name: 'laptop', user_id: id });
  await here.service.call('PUT', `/api/v2/devices/${deviceId}/members/${id}`, { role: 'launch' });
  return (method: string, path: string, body: object = {}): Promise<Response> =>
    fetch(`${here.service.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${String(secret)}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
}

const touch = (deviceId: string, input: Record<string, unknown>): Promise<unknown> =>
  here.service.call('POST', `/api/v2/devices/${deviceId}/input`, input);
const openApp = (deviceId: string, package_name: string): Promise<unknown> =>
  touch(deviceId, { type: 'launch_app', package_name });

async function read(deviceId: string): Promise<Device> {
  const { device } = await here.service.call('GET', `/api/v2/devices/${deviceId}`);
  return device as Device;
}

const holderOf = async (deviceId: string): Promise<string | undefined> =>
  (await read(deviceId)).lease?.user.name;

async function findNode(deviceId: string, name: string) {
  const { screen } = await here.service.call('GET', `/api/v2/devices/${deviceId}/screen?width=200`);
  const { tree, width, height } = screen as { tree: { root: UiNode }; width: number; height: number };
  const all = (node: UiNode): UiNode[] => [node, ...(node.children ?? []).flatMap(all)];
  const node = all(tree.root).find(
    ({ text, viewId }) => text === name || viewId?.endsWith(`/${name}`) === true,
  );
  return node && { ...node, width, height };
}

const shows = (deviceId: string, name: string, text?: string): Promise<unknown> =>
  until(`${name} on the screen`, async () => {
    const found = await findNode(deviceId, name);
    return found !== undefined && (text === undefined || found.text === text) ? found : undefined;
  });

async function tapNode(picture: Locator, deviceId: string, name: string): Promise<void> {
  const node = await findNode(deviceId, name);
  const box = await picture.boundingBox();
  if (node === undefined || box === null) throw new Error(`${name} is not to be seen`);
  const { left, right, top, bottom } = node.boundsInScreen;
  const x = ((left + right) / 2 / node.width) * box.width;
  await picture.click({ position: { x, y: ((top + bottom) / 2 / node.height) * box.height } });
}

async function openPage(place: string): Promise<{ page: Page; problems: readonly string[] }> {
  const { page, problems } = await openWindow(here.browser);
  await signIn(page, here.service.url, here.service.token);
  await page.goto(`${here.service.url}${place}`);
  return { page, problems };
}

story('the wall is live, and one hand is on three phones', async () => {
  const ids = await here.service.readyDevices(3);
  const [first = '', second = '', third = ''] = ids;
  const bea = await shareWith('Bea', second);
  const { page, problems } = await openPage('/devices?view=wall&pictures=true');
  const pictures = page.getByRole('img', { name: /^What .* shows$/ });
  await expect.poll(() => pictures.count()).toBe(3);
  const look = (): Promise<Buffer[]> =>
    Promise.all([0, 1, 2].map((at) => pictures.nth(at).screenshot({ animations: 'disabled' })));
  const before = await look();
  for (const id of ids) await openApp(id, form);
  await until('three tiles to show something else', async () =>
    (await look()).every((picture, at) => !picture.equals(before[at] ?? Buffer.alloc(0))),
  );
  expect(await findViolations(page)).toEqual([]);

  for (const box of await page.getByLabel(/^Select /).all()) await box.click();
  await page.getByText('3 selected').waitFor();
  await page.getByRole('link', { name: 'Control together' }).click();
  // If another user holds one of the phones, none is taken, and the page says who holds which.
  expect((await bea('POST', `/api/v2/devices/${second}/lease`)).status).toBe(200);
  const take = page.getByRole('button', { name: 'Take control of 3 phones' });
  await take.click();
  const { model } = await read(second);
  const told = page.getByRole('alert').getByText(new RegExp(`${model}: .*Bea`));
  await told.waitFor();
  expect(await holderOf(first)).toBeUndefined();
  expect(await holderOf(third)).toBeUndefined();
  expect((await bea('DELETE', `/api/v2/devices/${second}/lease`)).status).toBe(200);

  // A phone with a different screen is left out.
  await openApp(third, 'com.android.settings');
  await take.click();
  await page.getByText(/left out: It shows the app com\.android\.settings/).waitFor();
  expect(await holderOf(third)).toBeUndefined();
  await page.getByRole('button', { name: 'End control' }).click();
  await openApp(third, form);
  await shows(third, 'Registration');

  await take.click();
  const phone = page.getByRole('application', { name: 'The phone: touch it, or type' });
  await phone.waitFor();
  await page.getByRole('img', { name: 'What the screen shows' }).waitFor();
  expect(await findViolations(page)).toEqual([]);
  await tapNode(phone, first, 'name');
  await phone.pressSequentially('Ada', { delay: 5 });
  await page.getByText('Done on 3 phones.').waitFor();
  for (const id of ids) await shows(id, 'name', 'Ada');
  await page.getByLabel('Text', { exact: true }).fill(' Lovelace 🏔');
  await page.getByRole('button', { name: 'Send' }).click();
  for (const id of ids) await shows(id, 'name', 'Ada Lovelace 🏔');
  // A phone that is taken away is marked, and the others continue.
  await here.service.call('DELETE', `/api/v2/devices/${second}/lease`, {});
  await phone.press('Backspace');
  await page.getByText(new RegExp(`^Done on 2 phones, failed on .*${model}\\.$`)).waitFor();
  for (const id of [first, third]) await shows(id, 'name', 'Ada Lovelace ');
  await shows(second, 'name', 'Ada Lovelace 🏔');

  // Leaving the page releases the phones.
  await page
    .getByRole('navigation', { name: 'Pages' })
    .getByRole('link', { name: 'Fleet', exact: true })
    .click();
  for (const id of ids) await expect.poll(() => holderOf(id)).toBeUndefined();
  expect(problems).toEqual([]);
});

story('any layout, input method, paste and file reaches the phone', async () => {
  const [deviceId = ''] = await here.service.readyDevices(3);
  await openApp(deviceId, form);
  const { page, problems } = await openPage(`/devices/${deviceId}?tab=control`);
  await page.getByRole('button', { name: 'Take control' }).click();
  const phone = page.getByRole('application', { name: 'The phone: touch it, or type' });
  await page.getByRole('img', { name: 'What the screen shows' }).waitFor();
  await until('an empty form', async () => {
    await openApp(deviceId, form);
    return findNode(deviceId, 'city');
  });
  await tapNode(phone, deviceId, 'city');
  // Composed text is sent when it is finished, not letter by letter.
  const session = await page.context().newCDPSession(page);
  await session.send('Input.imeSetComposition', { text: 'にほん', selectionStart: 3, selectionEnd: 3 });
  await page.locator('textarea[data-composing="true"]').waitFor();
  await session.send('Input.insertText', { text: '日本' });
  await shows(deviceId, 'city', '日本');
  await page.keyboard.insertText('🏔é');
  await shows(deviceId, 'city', '日本🏔é');
  expect(await findViolations(page)).toEqual([]);
  await page.evaluate(() => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', ' 中文');
    const paste = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
    document.activeElement?.dispatchEvent(paste);
  });
  await shows(deviceId, 'city', '日本🏔é 中文');

  const made = { packageName: 'com.example.dropped', versionCode: 1, versionName: '1', minSdkVersion: 26 };
  const drop = async (name: string, content: Buffer): Promise<void> => {
    const dataTransfer = await page.evaluateHandle(
      ([file, letters]) => {
        const transfer = new DataTransfer();
        const bytes = Uint8Array.from(atob(letters ?? ''), (letter) => letter.charCodeAt(0));
        transfer.items.add(new File([bytes], file ?? ''));
        return transfer;
      },
      [name, content.toString('base64')],
    );
    await phone.dispatchEvent('drop', { dataTransfer });
  };
  await drop('made.apk', makeApk(made));
  await page.getByText('made.apk: installed').waitFor();
  const { apps } = await here.service.call('GET', `/api/v2/devices/${deviceId}/apps`);
  expect(apps).toContainEqual({ package_name: made.packageName, is_system: false });
  await drop('grüße.txt', Buffer.alloc(600_000, 'x'));
  await page.getByText(/grüße\.txt: \/sdcard\/\S+, visible to apps/).waitFor();
  await drop('no.apk', Buffer.from('no APK'));
  await page.getByText(/no\.apk: not sent: .*Failed to parse APK file/).waitFor();
  const { entries } = await here.service.call('GET', '/api/v2/audit?action=send_file');
  const subject = { id: deviceId };
  expect(entries).toMatchObject([{ outcome: 'failed', subject }, { subject }]);
  await page.getByRole('button', { name: 'Zoom in' }).click();
  expect(problems).toEqual([]);
});
