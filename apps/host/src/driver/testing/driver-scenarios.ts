import type { ScreenTree, UiNode } from '@phalanx/protocol';
import { expect } from 'vitest';
import type { Driver } from '../driver.ts';
import { findNode } from '../find-node.ts';
import { type DriverScenario, fail } from './driver-scenario.ts';

const form = { packageName: 'dev.phalanx.sample.form' };
const settings = { packageName: 'com.android.settings' };
const launcher = 'dev.phalanx.sample.launcher';

const read = (driver: Driver): Promise<ScreenTree> => driver.call('screen.content', {});

async function getNode(driver: Driver, fits: (node: UiNode) => boolean): Promise<UiNode> {
  const { root } = await read(driver);
  const node = findNode(root, fits);
  expect(node, 'the node is on the screen').toBeDefined();
  return node ?? root;
}

const byText = (text: string) => (node: UiNode) => node.text === text;
const byId = (id: string) => (node: UiNode) => node.viewId?.endsWith(`:id/${id}`) === true;

function centreOf({ boundsInScreen: { left, top, right, bottom } }: UiNode): { x: number; y: number } {
  return { x: Math.round((left + right) / 2), y: Math.round((top + bottom) / 2) };
}

async function tap(driver: Driver, fits: (node: UiNode) => boolean): Promise<void> {
  await driver.call('input.tap', centreOf(await getNode(driver, fits)));
}

/** Retries a check for a while, because a screen may take a moment to follow an input. */
async function expectSoon(check: () => Promise<void>): Promise<void> {
  await expect
    .poll(async () =>
      check().then(
        () => 'as expected',
        (error: unknown) => String(error),
      ),
    )
    .toBe('as expected');
}

async function openField(driver: Driver, id: string): Promise<void> {
  await driver.call('app.launch', form);
  await tap(driver, byId(id));
  await expectSoon(async () => expect((await getNode(driver, byId(id))).focused).toBe(true));
}

async function expectFieldText(driver: Driver, id: string, text: string | null): Promise<void> {
  await expectSoon(async () => expect((await getNode(driver, byId(id))).text).toBe(text));
}

/** Latin with marks, CJK, right-to-left Hebrew and Arabic, Hindi with joined letters, emoji of several characters. */
const scripts = ['Zürich <&>', '東京 한국어 中文', 'עִבְרִית', 'مَرْحَبًا', 'नमस्ते दुनिया', '😀 👩‍👩‍👧 🇩🇪 🦴'];

export const driverScenarios: readonly DriverScenario[] = [
  {
    behaviour: 'reads the tree of the app in front',
    async run(driver) {
      await driver.call('app.launch', settings);
      const tree = await read(driver);
      expect(tree).toMatchObject({ packageName: settings.packageName, rotation: 0, source: driver.source });
      expect(Math.abs(Date.now() - tree.capturedAt)).toBeLessThan(60_000);
      const title = findNode(tree.root, byText('Settings'));
      expect(title?.boundsInScreen.bottom).toBeGreaterThan(title?.boundsInScreen.top ?? 0);
    },
  },
  {
    behaviour: 'launches an app, names it and its activity, and goes home',
    async run(driver) {
      await driver.call('app.launch', form);
      expect(await driver.call('app.current', {})).toEqual({
        packageName: form.packageName,
        activity: `${form.packageName}.FormActivity`,
      });
      await driver.call('navigate.home', {});
      await expectSoon(async () => expect((await driver.call('app.current', {})).packageName).toBe(launcher));
    },
  },
  {
    behaviour: 'says that an app is not installed',
    async run(driver) {
      const missing = { packageName: 'com.example.not.there' };
      await expect(driver.call('app.launch', missing)).rejects.toEqual(fail('app_not_found'));
      await expect(driver.call('app.stop', missing)).rejects.toEqual(fail('app_not_found'));
    },
  },
  {
    behaviour: 'stops an app',
    async run(driver) {
      await driver.call('app.launch', form);
      await driver.call('app.stop', form);
      await expectSoon(async () =>
        expect((await driver.call('app.current', {})).packageName).not.toBe(form.packageName),
      );
    },
  },
  {
    behaviour: 'taps, and goes back',
    async run(driver) {
      await driver.call('app.launch', settings);
      await tap(driver, byText('Network & internet'));
      await expectSoon(async () => void (await getNode(driver, byText('Wi-Fi'))));
      await driver.call('navigate.back', {});
      await expectSoon(async () => void (await getNode(driver, byText('Bluetooth'))));
    },
  },
  {
    behaviour: 'swipes a list until its end is there',
    async run(driver) {
      await driver.call('app.launch', settings);
      await driver.call('input.swipe', { fromX: 540, fromY: 1800, toX: 540, toY: 500, durationMs: 200 });
      await driver.call('input.swipe', { fromX: 540, fromY: 1800, toX: 540, toY: 500, durationMs: 200 });
      await expectSoon(async () => void (await getNode(driver, byText('About phone'))));
    },
  },
  {
    behaviour: 'makes long presses and double taps without an error',
    async run(driver) {
      await driver.call('navigate.home', {});
      await driver.call('input.longPress', { x: 540, y: 1900, durationMs: 300 });
      await driver.call('input.doubleTap', { x: 540, y: 1900 });
    },
  },
  {
    behaviour: 'types text after what is there, and clears it',
    async run(driver) {
      await openField(driver, 'name');
      await driver.call('input.clearText', {});
      await driver.call('input.text', { text: 'Ada  Lovelace' });
      await driver.call('input.text', { text: ` "it's" $HOME 100%sure \\n` });
      await expectFieldText(driver, 'name', `Ada  Lovelace "it's" $HOME 100%sure \\n`);
      await driver.call('input.clearText', {});
      await expectSoon(async () =>
        expect((await getNode(driver, byId('name'))).text ?? 'Full name').toBe('Full name'),
      );
    },
  },
  {
    behaviour: 'types any Unicode text',
    only: ['uiautomator2', 'resident'],
    async run(driver) {
      await openField(driver, 'city');
      for (const text of scripts) {
        await driver.call('input.text', { text });
        await expectFieldText(driver, 'city', text);
        await driver.call('input.clearText', {});
      }
    },
  },
  {
    behaviour: 'says that it can not type what is not ASCII, and types nothing of it',
    only: ['dump'],
    async run(driver) {
      await openField(driver, 'city');
      for (const text of scripts)
        await expect(driver.call('input.text', { text })).rejects.toEqual(fail('text_not_typable'));
      expect((await getNode(driver, byId('city'))).text ?? 'City').toBe('City');
    },
  },
  {
    behaviour: 'puts a text on the clipboard, to be pasted',
    only: ['uiautomator2', 'resident'],
    async run(driver) {
      await openField(driver, 'city');
      for (const text of scripts) {
        await driver.call('clipboard.write', { text });
        await driver.call('input.key', { keyCode: 279 });
        await expectFieldText(driver, 'city', text);
        await driver.call('input.clearText', {});
      }
    },
  },
  {
    behaviour: 'reads the clipboard, which the helper may do in every release of Android',
    only: ['resident'],
    async run(driver) {
      for (const text of scripts) {
        await driver.call('clipboard.write', { text });
        expect(await driver.call('clipboard.read', {})).toBe(text);
      }
    },
  },
  {
    behaviour: 'says that it has no clipboard',
    only: ['dump'],
    async run(driver) {
      await expect(driver.call('clipboard.write', { text: 'a' })).rejects.toEqual(fail('clipboard_refused'));
      await expect(driver.call('clipboard.read', {})).rejects.toEqual(fail('clipboard_refused'));
    },
  },
  {
    behaviour: 'says that no field has the focus',
    async run(driver) {
      await driver.call('navigate.home', {});
      await expect(driver.call('input.clearText', {})).rejects.toEqual(fail('no_focused_field'));
    },
  },
  {
    behaviour: 'reads the windows that it can, and knows the keyboard',
    async run(driver) {
      await openField(driver, 'city');
      const windows = await driver.call('screen.windows', {});
      const packages = windows.map(({ root }) => root.packageName);
      expect(packages).toContain(form.packageName);
      expect(windows.filter(({ isKeyboard }) => isKeyboard)).toHaveLength(driver.source === 'dump' ? 0 : 1);
      expect(packages.includes('com.android.systemui')).toBe(driver.source !== 'dump');
      expect((await read(driver)).packageName).toBe(form.packageName);
    },
  },
  {
    behaviour: 'reads notifications as data',
    async run(driver) {
      expect(await driver.call('notification.list', {})).toContainEqual({
        packageName: 'android',
        title: 'USB debugging connected',
        text: 'Tap to turn off USB debugging',
      });
    },
  },
  {
    behaviour: 'presses keys',
    async run(driver) {
      await openField(driver, 'email');
      await driver.call('input.key', { keyCode: 29 });
      await driver.call('input.key', { keyCode: 30 });
      await expectFieldText(driver, 'email', 'ab');
      await driver.call('input.key', { keyCode: 67 });
      await expectFieldText(driver, 'email', 'a');
      await driver.call('input.clearText', {});
    },
  },
  {
    behaviour: 'opens the notifications and the recent apps',
    async run(driver) {
      await driver.call('app.launch', settings);
      await driver.call('navigate.notifications', {});
      await expectSoon(async () => expect((await read(driver)).packageName).toBe('com.android.systemui'));
      await driver.call('navigate.home', {});
      await driver.call('navigate.recents', {});
      await driver.call('navigate.home', {});
      await expectSoon(async () => expect((await driver.call('app.current', {})).packageName).toBe(launcher));
    },
  },
  {
    behaviour: 'takes a screenshot in the form that is asked for',
    async run(driver) {
      const { screenWidth, screenHeight } = await driver.call('device.info', {});
      const whole = await driver.call('screen.screenshot', {});
      expect(whole).toMatchObject({
        mimeType: 'image/jpeg',
        width: screenWidth,
        height: screenHeight,
        originalWidth: screenWidth,
      });
      const small = await driver.call('screen.screenshot', { format: 'png', maxWidth: 120 });
      expect(small).toMatchObject({
        mimeType: 'image/png',
        width: 120,
        originalWidth: screenWidth,
        originalHeight: screenHeight,
      });
    },
  },
  {
    behaviour: 'runs calls of several callers one after the other',
    async run(driver) {
      await driver.call('app.launch', settings);
      const trees = await Promise.all([1, 2, 3, 4].map(() => read(driver)));
      expect(trees.map(({ packageName }) => packageName)).toEqual(Array(4).fill(settings.packageName));
      expect(driver.pendingCalls).toBe(0);
    },
  },
  {
    behaviour: 'ends a cancelled call at once and goes on with the next',
    async run(driver) {
      const cancelled = new AbortController();
      const call = driver.call('input.longPress', { x: 540, y: 1900, durationMs: 20_000 }, cancelled.signal);
      cancelled.abort(new Error('the run was stopped'));
      await expect(call).rejects.toEqual(fail('call_cancelled'));
      await expect(driver.call('screen.content', {}, AbortSignal.abort())).rejects.toEqual(
        fail('call_cancelled'),
      );
      expect(await driver.call('device.info', {})).toMatchObject({ sdkVersion: expect.any(Number) });
    },
  },
];
