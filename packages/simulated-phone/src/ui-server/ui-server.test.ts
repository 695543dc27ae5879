import { readFile } from 'node:fs/promises';
import { SERVER_APK_PATH, TEST_APK_PATH } from 'appium-uiautomator2-server';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { adbCommand } from '../adb/adb-message.ts';
import { center } from '../view/rect.ts';
import { type PhoneWithShell, startPhoneWithShell } from '../testing/phones.ts';
import { RawClient } from '../testing/raw-client.ts';
import type { SimulatedPhoneOptions } from '../simulated-phone.ts';
import { findView } from '../testing/find-view.ts';
import { UiClient } from '../testing/ui-client.ts';

const serverPackage = 'io.appium.uiautomator2.server';
const component = `${serverPackage}.test/androidx.test.runner.AndroidJUnitRunner`;
const installedPackages = [serverPackage, `${serverPackage}.test`].map((name) => ({
  name,
  versionCode: 278,
  versionName: '10.6.6',
}));

/** Starts the server as a driver does. The returned text is what the command printed when it ended. */
async function startServer({ adb }: PhoneWithShell): Promise<{ ended: Promise<string> }> {
  const protocol = adb.subprocess.shellProtocol;
  if (!protocol) throw new Error('The phone does not offer shell_v2.');
  const running = await protocol.spawn(`am instrument -w -e disableAnalytics true ${component}`);
  const reader = running.stdout.getReader();
  const first = await reader.read();
  const decoder = new TextDecoder();
  expect(decoder.decode(first.value)).toContain('INSTRUMENTATION_STATUS_CODE: 1');
  const readRest = async () => {
    let text = '';
    for (let next = await reader.read(); !next.done; next = await reader.read())
      text += decoder.decode(next.value);
    return text;
  };
  running.exited.catch(() => {});
  const ended = readRest().catch(() => 'disconnected');
  return { ended };
}

async function startSession(options: Partial<SimulatedPhoneOptions> = {}) {
  const opened = await startPhoneWithShell({ installedPackages, ...options });
  const { ended } = await startServer(opened);
  const ui = await UiClient.connect(opened.adb);
  await ui.startSession();
  return { ...opened, ui, ended };
}

const errorOf = (code: string) => expect.objectContaining({ error: code });

test('the server runs only after both packages were pushed and installed', async () => {
  const opened = await startPhoneWithShell();
  const { phone, shell } = opened;
  expect((await shell(`am instrument -w ${component}`)).stdout).toContain(
    'Unable to find instrumentation info',
  );
  for (const path of [SERVER_APK_PATH, TEST_APK_PATH]) {
    phone.android.files.writeFile('/data/local/tmp/x.apk', await readFile(path));
    expect((await shell('pm install -r -g -t /data/local/tmp/x.apk')).stdout).toBe('Success\n');
  }
  expect((await shell(`dumpsys package ${serverPackage} | grep versionCode`)).stdout).toContain(
    'versionCode=278 minSdk=26',
  );
  await startServer(opened);
  const ui = await UiClient.connect(opened.adb);
  const { status, value } = await ui.send('GET', '/status');
  expect(status).toBe(200);
  expect(value).toMatchObject({ ready: true, message: 'UiAutomator2 Server is ready to accept commands' });
});

test('source has class names as element names and equals what is shown', async () => {
  const { ui, phone } = await startSession();
  phone.android.startActivity('dev.phalanx.sample.form');
  const { value } = await ui.get('source');
  const source = String(value);
  expect(source).toMatch(
    /^<\?xml version='1\.0' encoding='UTF-8' standalone='yes' \?>\n<hierarchy index="0" class="hierarchy" rotation="0" width="1080" height="2400">/,
  );
  expect(source).toMatch(
    /<android\.widget\.EditText index="\d" package="dev\.phalanx\.sample\.form" class="android\.widget\.EditText" text="Full name"[^>]* hint="Full name"[^>]* showing-hint="true"/,
  );
});

test('a screenshot is a PNG, and fails for a secure window while the tree stays', async () => {
  const { ui, phone } = await startSession();
  const { value } = await ui.get('screenshot');
  expect(await sharp(Buffer.from(String(value), 'base64')).metadata()).toMatchObject({
    format: 'png',
    width: 1080,
  });
  phone.faults.secureWindow = true;
  expect(await ui.get('screenshot')).toMatchObject({
    status: 500,
    value: errorOf('unable to capture screen'),
  });
  expect((await ui.get('source')).status).toBe(200);
});

test('texts of any language are set, read, appended and cleared', async () => {
  const { ui, phone } = await startSession();
  phone.android.startActivity('dev.phalanx.sample.form');
  const name = await ui.find('id', 'dev.phalanx.sample.form:id/name');
  await ui.post(`element/${name}/value`, { text: '日本 😀', replace: true });
  await ui.post(`element/${name}/value`, { text: '!' });
  expect(await ui.get(`element/${name}/text`)).toMatchObject({ status: 200, value: '日本 😀!' });
  expect(phone.android.findFieldText('name')).toBe('日本 😀!');
  await ui.post(`element/${name}/clear`);
  expect(phone.android.findFieldText('name')).toBe('');
  await ui.post(`element/${name}/click`);
  await ui.post('keys', { text: 'typed' });
  expect(phone.android.findFieldText('name')).toBe('typed');
  expect((await ui.get('element/active')).status).toBe(200);
  await ui.post('back');
  const submit = await ui
    .find('accessibility id', 'nothing')
    .catch(() => ui.find('xpath', '//android.widget.Button[@text="Submit"]'));
  expect(await ui.post(`element/${submit}/value`, { text: 'x' })).toMatchObject({
    status: 400,
    value: errorOf('invalid element state'),
  });
});

test('gestures reach the phone', async () => {
  const { ui, phone } = await startSession();
  const { android } = phone;
  android.startActivity('dev.phalanx.sample.surprise');
  const middle = (id: string) =>
    center(findView(android, id)?.bounds ?? { left: 0, top: 0, right: 0, bottom: 0 });
  await ui.post('appium/gestures/click', { offset: middle('tap_me') });
  await ui.post('appium/gestures/double_click', { offset: middle('gestures') });
  await ui.post('appium/gestures/long_click', { offset: middle('gestures'), duration: 800 });
  for (const text of ['Taps: 1', 'Double taps: 1', 'Long presses: 1'])
    expect(findView(android, text)).toBeDefined();
  android.startActivity('com.android.settings');
  const area = { left: 0, top: 400, width: 1080, height: 1600 };
  await ui.post('appium/gestures/swipe', { area, direction: 'up', percent: 0.75 });
  expect(findView(android, 'About phone')).toBeDefined();
  expect((await ui.post('appium/gestures/scroll', { area, direction: 'up', percent: 0.9 })).value).toBe(
    false,
  );
  await ui.post('appium/gestures/drag', { start: { x: 500, y: 1900 }, end: { x: 500, y: 500 } });
  expect(findView(android, 'About phone')).toBeDefined();
  expect(await ui.post('appium/gestures/click', {})).toMatchObject({
    status: 400,
    value: errorOf('invalid argument'),
  });
});

test('W3C actions tap, hold and type', async () => {
  const { ui, phone } = await startSession();
  const { android } = phone;
  android.startActivity('dev.phalanx.sample.surprise');
  const { x, y } = center(findView(android, 'gestures')?.bounds ?? { left: 0, top: 0, right: 0, bottom: 0 });
  const hold = [
    { type: 'pointerMove', duration: 0, x, y, origin: 'viewport' },
    { type: 'pointerDown', button: 0 },
    { type: 'pause', duration: 600 },
    { type: 'pointerUp', button: 0 },
  ];
  const finger = { type: 'pointer', id: 'finger', parameters: { pointerType: 'touch' }, actions: hold };
  expect((await ui.post('actions', { actions: [finger] })).status).toBe(200);
  expect(findView(android, 'Long presses: 1')).toBeDefined();
  android.startActivity('dev.phalanx.sample.form');
  await ui.post(`element/${await ui.find('id', 'name')}/click`);
  const keys = ['H', 'i'].flatMap((value) => [
    { type: 'keyDown', value },
    { type: 'keyUp', value },
  ]);
  await ui.post('actions', { actions: [{ type: 'key', id: 'keyboard', actions: keys }] });
  expect(android.findFieldText('name')).toBe('Hi');
});

test.each([
  ['id', 'android:id/title', 'Network & internet'],
  ['class name', 'android.widget.Switch', 'Off'],
  ['xpath', '//*[@resource-id="android:id/summary" and contains(@text, "new")]', 'Pair new devices'],
  [
    'xpath',
    '//android.widget.LinearLayout[not(@checkable="true") and @clickable="true"][2]//android.widget.TextView[last()]',
    'Pair new devices',
  ],
  ['xpath', '/hierarchy//android.widget.TextView[starts-with(@text,"Blue")]', 'Bluetooth'],
  ['-android uiautomator', 'new UiSelector().resourceId("android:id/title").instance(1)', 'Bluetooth'],
])('an element is found by %s %s', async (strategy, selector, text) => {
  const { ui, phone } = await startSession();
  phone.android.startActivity('com.android.settings');
  const id = await ui.find(strategy, selector);
  expect((await ui.get(`element/${id}/text`)).value).toBe(text);
});

test('what is wrong is said in the words of W3C', async () => {
  const { ui, phone } = await startSession();
  phone.android.startActivity('com.android.settings');
  expect(await ui.post('element', { strategy: 'id', selector: 'nope' })).toMatchObject({
    status: 404,
    value: errorOf('no such element'),
  });
  expect(await ui.post('elements', { strategy: 'id', selector: 'nope' })).toMatchObject({
    status: 200,
    value: [],
  });
  expect(await ui.post('element', { strategy: 'xpath', selector: '//*[' })).toMatchObject({
    status: 400,
    value: errorOf('invalid selector'),
  });
  expect(await ui.post('element', { selector: 1 })).toMatchObject({
    status: 400,
    value: errorOf('invalid argument'),
  });
  expect(await ui.get('nothing')).toMatchObject({ status: 404, value: errorOf('unknown command') });
  expect(await ui.send('GET', '/session/other/source')).toMatchObject({
    status: 404,
    value: errorOf('invalid session id'),
  });
  expect(await ui.get('alert/text')).toMatchObject({ status: 404, value: errorOf('no such alert') });
  const title = await ui.find('id', 'android:id/title');
  phone.android.goHome();
  expect(await ui.get(`element/${title}/text`)).toMatchObject({
    status: 404,
    value: errorOf('stale element reference'),
  });
});

test('alerts are read, accepted and dismissed', async () => {
  const { ui, phone } = await startSession();
  phone.android.startActivity('dev.phalanx.sample.surprise');
  phone.faults.showDialog();
  expect((await ui.get('alert/text')).value).toBe(
    'Update available\nA new version of this app is ready to be installed.',
  );
  expect((await ui.post('alert/dismiss')).value).toBe('Not now');
  phone.faults.showDialog();
  expect((await ui.post('alert/accept')).value).toBe('Update');
  phone.faults.showDialog();
  expect((await ui.post('alert/accept', { buttonLabel: 'Not now' })).value).toBe('Not now');
});

test('keys, back, settings and device info work', async () => {
  const { ui, phone } = await startSession({ model: 'Pixel 9' });
  await ui.post('appium/settings', { settings: { waitForIdleTimeout: 0 } });
  expect((await ui.get('appium/settings')).value).toMatchObject({
    waitForIdleTimeout: 0,
    snapshotMaxDepth: 70,
  });
  expect((await ui.get('appium/device/info')).value).toMatchObject({
    model: 'Pixel 9',
    realDisplaySize: '1080x2400',
  });
  phone.android.startActivity('com.android.settings');
  phone.android.startActivity('com.android.settings', '.AboutActivity');
  await ui.post('back');
  expect(findView(phone.android, 'Network & internet')).toBeDefined();
  await ui.post('appium/device/press_keycode', { keycode: 3 });
  expect(phone.android.currentPackage).toBe('dev.phalanx.sample.launcher');
});

test('an answer leaves in one WRTE, its head and body together', async () => {
  const { phone } = await startSession();
  const client = new RawClient(phone.port);
  await client.connect();
  const deviceId = await client.open('tcp:6790');
  const request = 'GET /status HTTP/1.1\r\nhost: localhost\r\n\r\n';
  client.send(adbCommand.wrte, 1, deviceId, Buffer.from(request));
  const messages = [await client.next(), await client.next()];
  const answer = messages.find(({ command }) => command === adbCommand.wrte);
  expect(answer?.payload.toString()).toMatch(/^HTTP\/1\.1 200 [^]*\r\n\r\n\{.*"ready":true.*\}$/);
});

test('uiautomator dump is killed while the server runs, and works when it has ended', async () => {
  const { ui, shell, ended } = await startSession();
  expect(await shell('uiautomator dump')).toMatchObject({ exitCode: 137 });
  await ui.endSession();
  expect(await ended).toContain('OK (1 test)');
  expect((await shell('uiautomator dump')).stdout).toContain('dumped to');
});

test('the server dies with force-stop and when it is killed, and its connections with it', async () => {
  const opened = await startSession();
  const { phone, shell, ui, ended } = opened;
  await shell(`am force-stop ${serverPackage}`);
  expect(await ended).toContain('INSTRUMENTATION_RESULT: shortMsg=Process crashed.');
  await expect(ui.get('source')).rejects.toThrow();
  const again = await startServer(opened);
  phone.faults.killUiServer();
  expect(await again.ended).toContain('Process crashed.');
});

test('a phone that cannot run the server says that it crashed', async () => {
  const { shell } = await startPhoneWithShell({ installedPackages, uiAutomator2: false });
  expect((await shell(`am instrument -w ${component}`)).stdout).toContain('shortMsg=Process crashed.');
});

test('a list is scrolled to what a locator or a named element says, from wherever it stands', async () => {
  const { phone, ui } = await startSession();
  phone.android.startActivity('com.android.settings');
  const scrollTo = (text: string) => {
    const selector = `new UiSelector().text("${text}")`;
    return ui.post('gestures/scroll_to', { params: { strategy: '-android uiautomator', selector } });
  };
  const first = await ui.find('-android uiautomator', 'new UiSelector().text("Network & internet")');
  const list = await ui.find('-android uiautomator', 'new UiSelector().scrollable(true)');
  expect((await scrollTo('About phone')).value).toBeNull();
  expect(findView(phone.android, 'About phone')).toBeDefined();
  expect((await ui.get(`element/${first}/text`)).value).toEqual(errorOf('stale element reference'));
  expect((await ui.post(`appium/element/${list}/scroll_to/${first}`, {})).value).toBe(true);
  expect((await scrollTo('Nowhere')).value).toEqual(errorOf('no such element'));
});

test('two fingers part and meet within an area', async () => {
  const { phone, ui } = await startSession();
  const area = { left: 100, top: 200, width: 400, height: 800 };
  await ui.post('appium/gestures/pinch_open', { area, percent: 0.5 });
  expect(phone.android.inputs.last).toMatchObject({
    kind: 'fingers',
    gestures: [{ to: { x: 300, y: 400 } }, { to: { x: 300, y: 800 } }],
  });
  await ui.post('appium/gestures/pinch_close', { area, percent: 0.5 });
  expect(phone.android.inputs.last).toMatchObject({
    gestures: [{ from: { x: 300, y: 400 } }, { from: { x: 300, y: 800 } }],
  });
});

test('an element has a picture of its own size', async () => {
  const { phone, ui } = await startSession();
  phone.android.startActivity('dev.phalanx.sample.form');
  const field = await ui.find('class name', 'android.widget.EditText');
  const { value: rect } = await ui.get(`element/${field}/rect`);
  const { value } = await ui.get(`element/${field}/screenshot`);
  const { width, height } = await sharp(Buffer.from(String(value), 'base64')).metadata();
  expect(rect).toMatchObject({ width, height });
});

test('settings are skipped when they are unknown, and refused when they are of another type', async () => {
  const { ui } = await startSession();
  const settings = { noSuchSetting: 1, mjpegScalingFactor: 66.7 };
  await ui.post('appium/settings', { settings });
  const { value } = await ui.get('appium/settings');
  expect(value).toMatchObject({ mjpegScalingFactor: 66 });
  expect(value).not.toHaveProperty('noSuchSetting');
  const refused = await ui.post('appium/settings', { settings: { snapshotMaxDepth: '300' } });
  expect(refused.value).toEqual(errorOf('invalid argument'));
});

test('of more than 500 elements those are forgotten that were not used for longest', async () => {
  const { ui } = await startSession();
  const [used, unused] = [await ui.find('xpath', '//*'), await ui.find('xpath', '//*')];
  const isKnown = async (id: string) => (await ui.get(`element/${id}/text`)).status === 200;
  for (let named = 0; named < 490;) {
    const { value } = await ui.post('elements', { strategy: 'xpath', selector: '//*' });
    named += Array.isArray(value) ? value.length : Infinity;
    expect(await isKnown(used)).toBe(true);
  }
  await ui.post('elements', { strategy: 'xpath', selector: '//*' });
  expect(await isKnown(used)).toBe(true);
  expect(await isKnown(unused)).toBe(false);
});

test('with the setting that keeps nodes, a tree shows what has gone until an app tells of its change', async () => {
  const { phone, ui } = await startSession();
  await ui.post('appium/settings', { settings: { deferAccessibilityCacheReset: true } });
  phone.android.startActivity('com.android.settings');
  expect((await ui.get('source')).value).toContain('Bluetooth');
  phone.faults.eventIntervalMs = Infinity;
  phone.android.startActivity('dev.phalanx.sample.surprise');
  expect((await ui.get('source')).value).toContain('Bluetooth');
  await ui.post('appium/reset_ax_cache', {});
  expect((await ui.get('source')).value).not.toContain('Bluetooth');
});
