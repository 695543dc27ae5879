import { readFile } from 'node:fs/promises';
import { SERVER_APK_PATH, TEST_APK_PATH } from 'appium-uiautomator2-server';
import sharp from 'sharp';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { expect, test } from 'vitest';
import { adbCommand } from '../adb/adb-message.ts';
import { center } from '../view/rect.ts';
import { type PhoneWithShell, startPhoneWithShell } from '../testing/phones.ts';
import { RawClient } from '../testing/raw-client.ts';
import type { SimulatedPhone, SimulatedPhoneOptions } from '../simulated-phone.ts';
import { findView } from '../testing/find-view.ts';
import { UiClient } from '../testing/ui-client.ts';

const serverPackage = 'io.appium.uiautomator2.server';
const component = `${serverPackage}.test/androidx.test.runner.AndroidJUnitRunner`;
const installedPackages = [serverPackage, `${serverPackage}.test`].map((name) => ({
  name,
  versionCode: 278,
  versionName: '10.6.6',
}));

/** Starts the server like a driver does. The returned text is the output of the command at its end. */
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

const middleOf = ({ android }: SimulatedPhone, id: string): { x: number; y: number } =>
  center(findView(android, id)?.bounds ?? expect.fail(`${id} is not on the screen`));

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

test('texts of any language are set, appended and cleared', async () => {
  const { ui, phone } = await startSession();
  const { android } = phone;
  android.startActivity('dev.phalanx.sample.form');
  const name = await ui.focus(middleOf(phone, 'name'));
  await ui.post(`element/${name}/value`, { text: '日本 😀', replace: true });
  await ui.post(`element/${name}/value`, { text: '!' });
  expect(android.findFieldText('name')).toBe('日本 😀!');
  await ui.post(`element/${name}/clear`);
  expect(android.findFieldText('name')).toBe('');
});

test('gestures reach the phone', async () => {
  const { ui, phone } = await startSession();
  const { android } = phone;
  android.startActivity('dev.phalanx.sample.surprise');
  await ui.post('appium/gestures/click', { offset: middleOf(phone, 'tap_me') });
  await ui.post('appium/gestures/double_click', { offset: middleOf(phone, 'gestures') });
  await ui.post('appium/gestures/long_click', { offset: middleOf(phone, 'gestures'), duration: 800 });
  for (const text of ['Taps: 1', 'Double taps: 1', 'Long presses: 1'])
    expect(findView(android, text)).toBeDefined();
  expect(await ui.post('appium/gestures/click', {})).toMatchObject({
    status: 400,
    value: errorOf('invalid argument'),
  });
});

test('W3C actions hold a finger', async () => {
  const { ui, phone } = await startSession();
  const { android } = phone;
  android.startActivity('dev.phalanx.sample.surprise');
  const { x, y } = middleOf(phone, 'gestures');
  const hold = [
    { type: 'pointerMove', duration: 0, x, y, origin: 'viewport' },
    { type: 'pointerDown', button: 0 },
    { type: 'pause', duration: 600 },
    { type: 'pointerUp', button: 0 },
  ];
  const finger = { type: 'pointer', id: 'finger', parameters: { pointerType: 'touch' }, actions: hold };
  expect((await ui.post('actions', { actions: [finger] })).status).toBe(200);
  expect(findView(android, 'Long presses: 1')).toBeDefined();
});

test('what is wrong is said in the words of W3C', async () => {
  const { ui, phone } = await startSession();
  phone.android.startActivity('com.android.settings');
  expect(await ui.get('element/active')).toMatchObject({ status: 404, value: errorOf('no such element') });
  expect(await ui.post('appium/device/press_keycode', { keycode: 'home' })).toMatchObject({
    status: 400,
    value: errorOf('invalid argument'),
  });
  expect(await ui.get('nothing')).toMatchObject({ status: 404, value: errorOf('unknown command') });
  expect(await ui.send('GET', '/session/other/source')).toMatchObject({
    status: 404,
    value: errorOf('invalid session id'),
  });
  phone.android.startActivity('dev.phalanx.sample.form');
  const name = await ui.focus(middleOf(phone, 'name'));
  phone.android.goHome();
  expect(await ui.post(`element/${name}/clear`)).toMatchObject({
    status: 404,
    value: errorOf('stale element reference'),
  });
});

test('keys and settings work', async () => {
  const { ui, phone } = await startSession();
  await ui.post('appium/settings', { settings: { waitForIdleTimeout: 0 } });
  expect((await ui.get('appium/settings')).value).toMatchObject({
    waitForIdleTimeout: 0,
    snapshotMaxDepth: 70,
  });
  phone.android.startActivity('com.android.settings');
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
  const { ui, phone } = await startSession();
  phone.android.startActivity('dev.phalanx.sample.form');
  const at = middleOf(phone, 'name');
  const [used, unused] = [await ui.focus(at), await ui.focus(at)];
  const isKnown = async (id: string) => (await ui.post(`element/${id}/clear`)).status === 200;
  for (let named = 2; named < 500; named += 1) await ui.get('element/active');
  expect(await isKnown(used)).toBe(true);
  await ui.get('element/active');
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
  await ui.post('appium/settings', { settings: { deferAccessibilityCacheReset: false } });
  expect((await ui.get('source')).value).not.toContain('Bluetooth');
});

/** Requests of a session of Appium's UiAutomator2 driver 8.7, recorded at this server. Elements have no ID. */
const appiumRequests = Compile(
  Type.Array(
    Type.Object({ method: Type.String(), path: Type.String(), body: Type.Optional(Type.Unknown()) }),
  ),
);

test("requests as Appium's driver sends them are answered, and do what they ask for", async () => {
  const opened = await startPhoneWithShell({ installedPackages });
  const { android } = opened.phone;
  await startServer(opened);
  const driver = await UiClient.connect(opened.adb);
  android.startActivity('dev.phalanx.sample.form');
  const file = new URL('testing/appium-requests.json', import.meta.url);
  const name = middleOf(opened.phone, 'name');
  const texts: unknown[] = [];
  let [session, element] = ['', ''];
  for (const { method, path, body } of appiumRequests.Parse(JSON.parse(await readFile(file, 'utf8')))) {
    const address = ['/session', session, path.replace(':id', element)].filter(Boolean).join('/');
    // The recorded point was on another screen.
    const sent = path === 'appium/gestures/click' ? { offset: name } : body;
    const { status, sessionId, value } = await driver.send(method, address, sent);
    expect([path, status]).toEqual([path, 200]);
    if (path === '') session = String(sessionId);
    if (path === 'element/active') [element = ''] = Object.values(value ?? {});
    if (path.startsWith('element/:id')) texts.push(android.findFieldText('name'));
  }
  expect(texts).toEqual(['Zoë 北京', 'Zoë 北京Ada', '']);
  expect(android.clipboard).toBe('copied');
  expect(android.currentPackage).toBe('dev.phalanx.sample.launcher');
});
