import { expect, test } from 'vitest';
import { androidReleases, makerProfiles } from './profiles.ts';
import { findView } from './testing/find-view.ts';
import { startPhoneWithShell } from './testing/phones.ts';
import { UiClient } from './testing/ui-client.ts';
import type { SimulatedPhoneOptions } from './simulated-phone.ts';
import { defineApp } from './view/app.ts';
import { center } from './view/rect.ts';
import { icons } from './widgets/icons.ts';
import type { View } from './view/view.ts';

const helper = 'io.appium.uiautomator2.server';
const instrument = `am instrument -w ${helper}.test/androidx.test.runner.AndroidJUnitRunner`;
const installedPackages = [helper, `${helper}.test`].map((name) => ({
  name,
  versionCode: 278,
  versionName: '10.6.6',
}));

async function startWithHelper(options: Partial<SimulatedPhoneOptions> = {}) {
  const opened = await startPhoneWithShell({ installedPackages, ...options });
  const running = await opened.adb.createSocket(`exec:${instrument}`);
  await running.readable.getReader().read();
  const ui = await UiClient.connect(opened.adb);
  await ui.startSession();
  return { ...opened, ui };
}

const errorWith = (error: string, message: string) =>
  expect.objectContaining({ error, message: expect.stringContaining(message) });

test.each(Object.entries(makerProfiles))('%s says who it is, and what it refuses', async (name, maker) => {
  const { shell, phone } = await startPhoneWithShell({ profile: name as keyof typeof makerProfiles });
  expect((await shell('getprop ro.product.manufacturer; getprop ro.product.model')).stdout).toBe(
    `${maker.manufacturer}\n${maker.model}\n`,
  );
  expect(phone.serial).toBe(maker.sharedSerial ?? 'SIM-TEST');
  const { stderr } = await shell('pm install -g /none.apk');
  expect(stderr.includes('INSTALL_GRANT_RUNTIME_PERMISSIONS')).toBe(maker.refusesGrants);
  const resolved = await shell('cmd package resolve-activity --brief dev.phalanx.sample.form');
  expect(resolved.stdout.includes('ResolverActivity')).toBe(maker.answersWithResolver);
});

test.each(Object.entries(androidReleases))('Android %s answers as that release', async (name, release) => {
  const { shell } = await startPhoneWithShell({ android: Number(name) as keyof typeof androidReleases });
  expect((await shell('getprop ro.build.version.sdk')).stdout).toBe(`${release.sdkVersion}\n`);
  expect((await shell('dumpsys activity activities')).stdout).toContain(`${release.resumedKey}=Activity`);
  const said = (await shell(`am instrument -w --no-hidden-api-checks ${helper}/x`)).stderr;
  expect(said.includes('Unknown option')).toBe(!release.hidesApis);
});

test('two phones of one serial number have boot ids of their own, and a restart makes a new one', async () => {
  const read = async ({ shell }: Awaited<ReturnType<typeof startPhoneWithShell>>) =>
    (await shell('cat /proc/sys/kernel/random/boot_id')).stdout.trim();
  const [first, second] = [await startPhoneWithShell(), await startPhoneWithShell()];
  expect(await read(first)).not.toBe(await read(second));
  const before = first.phone.android.boot.id;
  first.phone.faults.reboot();
  expect(first.phone.android.boot.id).not.toBe(before);
});

test('a restart cuts connections, passes its phases, and a PIN keeps apps away until it is given', async () => {
  const { phone, adb } = await startPhoneWithShell({ installedPackages, pin: '2580', bootMs: 100 });
  phone.faults.reboot();
  await adb.disconnected;
  await expect.poll(() => phone.android.boot.phase).toBe('up');
  const again = await startPhoneWithShell({ installedPackages, pin: '2580', bootMs: 1 });
  const { shell } = again;
  again.phone.android.restart().phase = 'up';
  expect((await shell('am get-started-user-state 0')).stdout).toBe('RUNNING_LOCKED\n');
  expect((await shell(instrument)).stdout).toContain('Unable to find instrumentation info');
  await shell('wm dismiss-keyguard; input text 0000; input keyevent 66');
  expect(again.phone.android.isLocked).toBe(true);
  await shell('input text 2580; input keyevent 66');
  expect(again.phone.android.isLocked).toBe(false);
  expect((await shell('am get-started-user-state 0')).stdout).toBe('RUNNING_UNLOCKED\n');
});

test('a dead UiAutomation stands behind a healthy status', async () => {
  const { ui, phone } = await startWithHelper();
  phone.faults.killUiAutomation();
  phone.faults.rootWaitMs = 50;
  expect((await ui.send('GET', '/status')).value).toMatchObject({ ready: true });
  expect((await ui.get('source')).value).toEqual(errorWith('unknown error', 'waiting for the root'));
  const { value } = await ui.post('appium/gestures/click', { offset: { x: 1, y: 1 } });
  expect(value).toEqual(errorWith('unknown error', 'UiAutomation not connected'));
});

test('refused injection is told in the words of the real server', async () => {
  const { ui, phone } = await startWithHelper({ profile: 'xiaomi' });
  phone.faults.restrictedDebugging = true;
  const tapped = await ui.post('appium/gestures/click', { offset: { x: 1, y: 1 } });
  expect(tapped.value).toMatchObject({
    message: expect.not.stringContaining('INJECT_EVENTS'),
    stacktrace: expect.stringContaining('INJECT_EVENTS'),
  });
  const key = await ui.post('appium/device/press_keycode', { keycode: 3 });
  expect(key.value).toEqual(errorWith('invalid element state', 'Cannot generate key press event'));
});

test('pulling the charger stops the helper, unless it was told not to', async () => {
  const { ui, phone } = await startWithHelper();
  await ui.post('appium/settings', { settings: { shutdownOnPowerDisconnect: false } });
  phone.android.battery.setPlugged(false);
  expect((await ui.get('source')).status).toBe(200);
  await ui.post('appium/settings', { settings: { shutdownOnPowerDisconnect: true } });
  phone.android.battery.setPlugged(true);
  phone.android.battery.setPlugged(false);
  await expect(ui.get('source')).rejects.toThrow();
});

test('a password shows dots, and typing after them types the dots', async () => {
  const { ui, phone } = await startWithHelper();
  phone.android.startActivity('dev.phalanx.sample.form');
  const { bounds = { left: 0, top: 0, right: 0, bottom: 0 } } = findView(phone.android, 'password') ?? {};
  const id = await ui.focus(center(bounds));
  await ui.post(`element/${id}/value`, { text: 'ab', replace: false });
  await ui.post(`element/${id}/value`, { text: 'cd', replace: false });
  expect(phone.android.findFieldText('password')).toBe('••cd');
});

test('toasts and notifications come as a second root, for as long as the real server keeps them', async () => {
  const { ui, phone } = await startWithHelper();
  phone.android.notices.showToast('Saved');
  expect(String((await ui.get('source')).value)).toContain('<android.widget.Toast');
  phone.android.notices.post({ packageName: 'a.b', title: 'Mail', text: 'for you' });
  expect(String((await ui.get('source')).value)).toContain('text="Mail: for you"');
});

const deep = (levels: number): View => ({
  className: 'android.view.View',
  packageName: 'dev.phalanx.deep',
  frame: { left: 0, top: 0, right: 1080, bottom: 2400 },
  text: `level ${levels}`,
  children: levels === 0 ? [] : [deep(levels - 1)],
});
const deepApp = defineApp({
  packageName: 'dev.phalanx.deep',
  label: 'Deep',
  icon: icons.pencil,
  color: '#000000',
  isHome: true,
  state: () => ({}),
  activities: { '.Main': () => () => deep(100) },
});

test('a deep tree is cut without a word, at the depth that is set', async () => {
  const { ui } = await startWithHelper({ apps: [deepApp] });
  expect(String((await ui.get('source')).value)).not.toContain('"level 0"');
  await ui.post('appium/settings', { settings: { snapshotMaxDepth: 300 } });
  expect(String((await ui.get('source')).value)).toContain('"level 0"');
});

test('an app of the work profile is not there for the shell, and named with its user in the dump', async () => {
  const { shell } = await startPhoneWithShell({ workProfilePackages: ['com.example.work'] });
  expect((await shell('pm path com.example.work; pm list packages com.example')).stdout).toBe('');
  const users = await shell('dumpsys package com.example.work | grep installed=');
  expect(users.stdout).toMatch(/User 0: .*installed=false.*\n.*User 10: .*installed=true/);
});

test('a body of more than 64 KiB gets a bare status', async () => {
  const { ui } = await startWithHelper();
  await expect(ui.post('actions', { padding: 'x'.repeat(70_000) })).rejects.toThrow();
});

test('a screen that nothing holds awake goes dark, and "am start -W" waits for it', async () => {
  const { shell, phone } = await startPhoneWithShell();
  await shell('settings put system screen_off_timeout 1');
  await expect.poll(() => phone.android.isScreenOn).toBe(false);
  await shell('settings put system screen_off_timeout 600000');
  const started = shell('am start -W -n com.android.settings/.SettingsActivity');
  await expect.poll(() => phone.android.currentPackage).toBe('com.android.settings');
  await shell('input keyevent 224; wm dismiss-keyguard');
  expect((await started).stdout).toContain('Status: ok');
  expect(phone.android.isLocked).toBe(false);
});
