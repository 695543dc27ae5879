import { deepStrictEqual as same, ok } from 'node:assert/strict';

import type { SimulatedPhone } from '@phalanx/simulated-phone';

import type { Commands } from './command.ts';
import type { WebDriver } from './web-driver.ts';

const settingsPackage = 'com.android.settings';
const firstRow = 'Network & internet';
const lastRow = 'About phone';
const area = { left: 200, top: 800, width: 600, height: 1000 };

async function middleOf(driver: WebDriver, element: string): Promise<{ x: number; y: number }> {
  const rect = (await driver.get(`element/${element}/rect`)) as Record<
    'x' | 'y' | 'width' | 'height',
    number
  >;
  return { x: Math.round(rect.x + rect.width / 2), y: Math.round(rect.y + rect.height / 2) };
}

/** A list that is longer than the screen. */
async function openList(driver: WebDriver, phone: SimulatedPhone): Promise<void> {
  phone.android.forceStop(settingsPackage);
  phone.android.startActivity(settingsPackage);
  await driver.findText(firstRow);
}

const showsTop = (driver: WebDriver): Promise<boolean> =>
  driver.findText(firstRow).then(
    () => true,
    () => false,
  );

const finger = (id: string, path: readonly (readonly [number, number])[]) => ({
  type: 'pointer',
  id,
  parameters: { pointerType: 'touch' },
  actions: [
    { type: 'pointerMove', duration: 0, x: path[0]?.[0], y: path[0]?.[1] },
    { type: 'pointerDown', button: 0 },
    ...path.slice(1).map(([x, y]) => ({ type: 'pointerMove', duration: 300, x, y })),
    { type: 'pointerUp', button: 0 },
  ],
});

export const gestureCommands: Commands = {
  'mobile: clickGesture': async (driver) => {
    await driver.mobile('clickGesture', { elementId: await driver.findText('Country') });
    await driver.findText('Kenya');
  },
  'mobile: clickGesture at a point': async (driver) => {
    await driver.mobile('clickGesture', await middleOf(driver, await driver.findText('Country')));
    await driver.findText('Kenya');
  },
  'mobile: doubleClickGesture': async (driver, phone) => {
    await driver.mobile('doubleClickGesture', { elementId: await driver.findText('You') });
    ok(phone.android.inputs.list().some(({ kind }) => kind === 'double-tap'));
  },
  'mobile: longClickGesture': async (driver, phone) => {
    await driver.mobile('longClickGesture', { elementId: await driver.findText('You'), duration: 600 });
    ok(phone.android.inputs.list().some(({ kind }) => kind === 'long-press'));
  },
  'mobile: dragGesture': async (driver, phone) => {
    await openList(driver, phone);
    await driver.mobile('dragGesture', { startX: 500, startY: 1800, endX: 500, endY: 500, speed: 5000 });
    same(await showsTop(driver), false);
  },
  'mobile: swipeGesture': async (driver, phone) => {
    await openList(driver, phone);
    await driver.mobile('swipeGesture', { ...area, direction: 'up', percent: 0.9 });
    same(await showsTop(driver), false);
  },
  'mobile: scrollGesture': async (driver, phone) => {
    await openList(driver, phone);
    const more = await driver.mobile('scrollGesture', { ...area, direction: 'down', percent: 0.5 });
    same([typeof more, await showsTop(driver)], ['boolean', false]);
  },
  'mobile: flingGesture': async (driver, phone) => {
    await openList(driver, phone);
    same(await driver.mobile('flingGesture', { ...area, direction: 'down' }), false);
    same(await showsTop(driver), false);
  },
  'mobile: scroll': async (driver, phone) => {
    await openList(driver, phone);
    const selector = `new UiSelector().text("${lastRow}")`;
    await driver.mobile('scroll', { strategy: '-android uiautomator', selector, maxSwipes: 10 });
    await driver.findText(lastRow);
  },
  'mobile: scrollBackTo': async (driver, phone) => {
    await openList(driver, phone);
    const elementId = await driver.find('-android uiautomator', 'new UiSelector().scrollable(true)');
    const elementToId = await driver.findText(firstRow);
    await driver.mobile('swipeGesture', { ...area, direction: 'up', percent: 0.9 });
    await driver.mobile('scrollBackTo', { elementId, elementToId });
    same(await showsTop(driver), true);
  },
  'mobile: pinchOpenGesture': async (driver, phone) => {
    await driver.mobile('pinchOpenGesture', { ...area, percent: 0.5 });
    ok(phone.android.inputs.list().some(({ kind }) => kind === 'fingers'));
  },
  'mobile: pinchCloseGesture': async (driver, phone) => {
    await driver.mobile('pinchCloseGesture', { ...area, percent: 0.5 });
    ok(phone.android.inputs.list().some(({ kind }) => kind === 'fingers'));
  },
  'actions: one finger': async (driver, phone) => {
    await openList(driver, phone);
    await driver.post('actions', {
      actions: [
        finger('one', [
          [500, 1800],
          [500, 500],
        ]),
      ],
    });
    same(await showsTop(driver), false);
  },
  'actions: two fingers': async (driver, phone) => {
    const fingers = [
      finger('one', [
        [500, 1300],
        [500, 900],
      ]),
      finger('two', [
        [500, 1400],
        [500, 1800],
      ]),
    ];
    await driver.post('actions', { actions: fingers });
    ok(phone.android.inputs.list().some(({ kind }) => kind === 'fingers'));
  },
};
