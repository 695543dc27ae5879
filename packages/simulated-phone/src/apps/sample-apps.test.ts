import sharp from 'sharp';
import { expect, test } from 'vitest';
import { pressKey, typeText } from '../android/input/press-key.ts';
import { applyGesture, doubleTap, tap } from '../android/input/touch.ts';
import type { SimulatedPhone } from '../simulated-phone.ts';
import { findUiautomatorXml } from '../screen/uiautomator-xml.ts';
import { findView } from '../testing/find-view.ts';
import { startPhone, startPhoneWithShell } from '../testing/phones.ts';
import { center, type Point } from '../view/rect.ts';

const key = { home: 3, back: 4, enter: 66, appSwitch: 187 } as const;

function middleOf(phone: SimulatedPhone, name: string): Point {
  const found = findView(phone.android, name);
  if (!found)
    throw new Error(
      `"${name}" is not on the screen: ${findUiautomatorXml(phone.android.screen, { compressed: false }) ?? ''}`,
    );
  return center(found.bounds);
}

const tapOn = (phone: SimulatedPhone, name: string) => tap(phone.android, middleOf(phone, name));
const isShown = (phone: SimulatedPhone, name: string) => findView(phone.android, name) !== undefined;

function swipeUp(phone: SimulatedPhone): void {
  applyGesture(phone.android, { from: { x: 540, y: 1900 }, to: { x: 540, y: 700 }, durationMs: 300 });
}

async function pixel(phone: SimulatedPhone, { x, y }: Point): Promise<string> {
  const image = sharp(await phone.screenshot('png'));
  const { data } = await image
    .extract({ left: x, top: y, width: 1, height: 1 })
    .raw()
    .toBuffer({ resolveWithObject: true });
  return `#${data.subarray(0, 3).toString('hex')}`;
}

test('a tap on an icon of the home screen starts the app, back and home leave it', async () => {
  const phone = await startPhone();
  tapOn(phone, 'Form');
  expect(phone.android.currentActivity).toBe('dev.phalanx.sample.form/dev.phalanx.sample.form.FormActivity');
  pressKey(phone.android, key.home);
  expect(phone.android.currentPackage).toBe('dev.phalanx.sample.launcher');
  pressKey(phone.android, key.appSwitch);
  tapOn(phone, 'Form');
  expect(phone.android.currentPackage).toBe('dev.phalanx.sample.form');
  pressKey(phone.android, key.back);
  expect(phone.android.currentPackage).toBe('dev.phalanx.sample.launcher');
});

test('a switch toggles in the tree and its middle changes colour in the picture', async () => {
  const phone = await startPhone();
  phone.android.startActivity('com.android.settings');
  const findSwitch = () => {
    const found = findView(phone.android, 'switch_widget');
    if (!found) throw new Error('No switch is on the screen.');
    return found;
  };
  const middle = center(findSwitch().bounds);
  expect(findSwitch().view.checked).toBe(false);
  expect(await pixel(phone, middle)).toBe('#e0e2ec');
  tapOn(phone, 'Bluetooth');
  expect(findSwitch().view.checked).toBe(true);
  expect(await pixel(phone, middle)).not.toBe('#e0e2ec');
  const quarter = { x: findSwitch().bounds.left + 30, y: middle.y };
  expect(await pixel(phone, quarter)).toBe('#3f5f90');
});

test('settings keep a switch when they are stopped and when the phone restarts, until their data is cleared', async () => {
  const { phone, shell } = await startPhoneWithShell();
  const isOn = () => {
    phone.android.startActivity('com.android.settings');
    return findView(phone.android, 'switch_widget')?.view.checked;
  };
  expect(isOn()).toBe(false);
  tapOn(phone, 'Bluetooth');
  phone.android.forceStop('com.android.settings');
  expect(isOn()).toBe(true);
  phone.android.restart().phase = 'up';
  await shell('wm dismiss-keyguard');
  expect(isOn()).toBe(true);
  await shell('pm clear com.android.settings');
  expect(isOn()).toBe(false);
});

test('settings scroll by a swipe to what was not shown, and sub pages go back', async () => {
  const phone = await startPhone();
  phone.android.startActivity('com.android.settings');
  expect(isShown(phone, 'About phone')).toBe(false);
  swipeUp(phone);
  tapOn(phone, 'About phone');
  expect(isShown(phone, 'SIM-TEST')).toBe(true);
  for (let taps = 0; taps < 7; taps++) tapOn(phone, 'Build number');
  expect(isShown(phone, 'You are now a developer!')).toBe(true);
  tapOn(phone, 'Navigate up');
  expect(isShown(phone, 'About phone')).toBe(true);
});

test('a long list keeps its rows inside its bounds while it scrolls', async () => {
  const phone = await startPhone();
  phone.android.startActivity('com.android.settings', '.LanguagesActivity');
  for (let swipes = 0; swipes < 10; swipes++) swipeUp(phone);
  expect(isShown(phone, 'Українська')).toBe(true);
  expect(isShown(phone, 'Afrikaans')).toBe(false);
  const list = findView(phone.android, 'recycler_view');
  const rows = list?.children ?? [];
  expect(rows.length).toBeGreaterThan(5);
  for (const { bounds } of rows) {
    expect(bounds.top).toBeGreaterThanOrEqual(list?.bounds.top ?? 0);
    expect(bounds.bottom).toBeLessThanOrEqual(list?.bounds.bottom ?? 0);
  }
});

test('the form takes texts, choices and shows a summary', async () => {
  const phone = await startPhone();
  const { android } = phone;
  android.startActivity('dev.phalanx.sample.form');
  const fill = (name: string, text: string) => {
    tapOn(phone, name);
    expect(android.isKeyboardShown).toBe(true);
    typeText(android, text);
  };
  fill('name', 'Zoë Ångström 😀');
  fill('email', 'zoe@example.org');
  fill('password', 'hunter2');
  expect(findView(android, 'password')?.view.text).toBe('•••••••');
  pressKey(android, key.back);
  expect(android.isKeyboardShown).toBe(false);
  tapOn(phone, 'Country');
  tapOn(phone, 'Japan');
  tapOn(phone, 'contact_phone');
  tapOn(phone, 'submit');
  expect(isShown(phone, 'Please give your consent.')).toBe(true);
  tapOn(phone, 'accept');
  tapOn(phone, 'submit');
  for (const value of ['Zoë Ångström 😀', '7 characters', 'Japan', 'phone'])
    expect(isShown(phone, value)).toBe(true);
});

test('focusing a field below the keyboard scrolls it into view, and enter breaks its line', async () => {
  const phone = await startPhone();
  const { android } = phone;
  android.startActivity('dev.phalanx.sample.form');
  tapOn(phone, 'message');
  const keyboardTop =
    android.screen.windows.find((window) => window.title === 'InputMethod')?.root.frame.top ?? 0;
  expect(findView(android, 'message')?.bounds.bottom).toBeLessThanOrEqual(keyboardTop);
  typeText(android, 'a');
  pressKey(android, key.enter);
  typeText(android, 'b');
  expect(android.findFieldText('message')).toBe('a\nb');
});

test('keys of the drawn keyboard type', async () => {
  const phone = await startPhone();
  const { android } = phone;
  android.startActivity('dev.phalanx.sample.form');
  tapOn(phone, 'name');
  const keyboard = android.screen.windows.find((window) => window.title === 'InputMethod');
  const press = (name: string) => {
    const view = keyboard?.root.children?.find((child) => child.description === name);
    if (view) tap(android, center(view.frame));
  };
  for (const name of ['h', 'i', 'x', '⌫']) press(name);
  expect(android.findFieldText('name')).toBe('hi');
});

test('every third tap brings a dialog, which a button or a tap beside it closes', async () => {
  const phone = await startPhone();
  phone.android.startActivity('dev.phalanx.sample.surprise');
  for (let taps = 0; taps < 3; taps++) tapOn(phone, 'tap_me');
  expect(findView(phone.android, 'alertTitle')?.view.text).toBe('Enjoying this app?');
  expect(isShown(phone, 'tap_me')).toBe(false);
  tapOn(phone, 'android:id/button2');
  expect(isShown(phone, 'Answer: later')).toBe(true);
  for (let taps = 0; taps < 3; taps++) tapOn(phone, 'tap_me');
  tap(phone.android, { x: 500, y: 2000 });
  expect(isShown(phone, 'Taps: 6')).toBe(true);
});

test('a dialog that was asked for comes later', async () => {
  const phone = await startPhone();
  phone.android.startActivity('dev.phalanx.sample.surprise');
  tapOn(phone, 'later');
  expect(isShown(phone, 'alertTitle')).toBe(false);
  await expect.poll(() => isShown(phone, 'alertTitle')).toBe(true);
});

test('double taps and long presses are told from taps', async () => {
  const phone = await startPhone();
  phone.android.startActivity('dev.phalanx.sample.surprise');
  const at = middleOf(phone, 'gestures');
  doubleTap(phone.android, at);
  applyGesture(phone.android, { from: at, to: at, durationMs: 800 });
  expect(isShown(phone, 'Double taps: 1')).toBe(true);
  expect(isShown(phone, 'Long presses: 1')).toBe(true);
});

test('a crash shows the system dialog above the home screen, and it can be closed', async () => {
  const phone = await startPhone();
  phone.android.startActivity('dev.phalanx.sample.crash');
  tapOn(phone, 'crash_now');
  expect(isShown(phone, 'Crash keeps stopping')).toBe(true);
  expect(phone.android.currentFocus).toBe('Application Error: dev.phalanx.sample.crash');
  tapOn(phone, 'android:id/aerr_close');
  expect(phone.android.currentFocus).toContain('dev.phalanx.sample.launcher/');
});

test('an app that is stopped forgets its state and its timers', async () => {
  const phone = await startPhone();
  phone.android.startActivity('dev.phalanx.sample.surprise');
  tapOn(phone, 'tap_me');
  tapOn(phone, 'later');
  phone.android.forceStop('dev.phalanx.sample.surprise');
  phone.android.startActivity('dev.phalanx.sample.surprise');
  expect(isShown(phone, 'Taps: 0')).toBe(true);
});

test('the screen turns off and locks, and a swipe upwards opens it', async () => {
  const phone = await startPhone();
  phone.faults.turnScreenOff();
  expect(findUiautomatorXml(phone.android.screen, { compressed: false })).toBeUndefined();
  expect(await pixel(phone, { x: 540, y: 1200 })).toBe('#000000');
  phone.android.setScreenOn(true);
  expect(isShown(phone, 'Swipe up to open')).toBe(true);
  swipeUp(phone);
  expect(phone.android.currentFocus).toContain('launcher');
});

test('the notification shade opens by a swipe from the top and closes with back', async () => {
  const phone = await startPhone();
  applyGesture(phone.android, { from: { x: 500, y: 5 }, to: { x: 500, y: 1500 }, durationMs: 200 });
  tapOn(phone, 'Flashlight');
  expect(findView(phone.android, 'Flashlight')?.view.checked).toBe(true);
  pressKey(phone.android, key.back);
  expect(isShown(phone, 'Flashlight')).toBe(false);
});

test('a picture is real and follows the screen', async () => {
  const phone = await startPhone();
  const first = await phone.screenshot('png');
  phone.android.startActivity('com.android.settings');
  const second = await phone.screenshot('png');
  expect(second.equals(first)).toBe(false);
  expect(await sharp(second).metadata()).toMatchObject({ width: 1080, height: 2400, format: 'png' });
  expect(await sharp(await phone.screenshot('jpeg')).metadata()).toMatchObject({
    width: 1080,
    height: 2400,
    format: 'jpeg',
  });
});
