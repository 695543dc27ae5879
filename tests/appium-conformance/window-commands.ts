import { deepStrictEqual as same, ok } from 'node:assert/strict';

import type { Commands } from './command.ts';

const turned = 'LANDSCAPE';

export const windowCommands: Commands = {
  'set clipboard': async (driver, phone) => {
    await driver.mobile('setClipboard', { content: Buffer.from('copied').toString('base64') });
    same(phone.android.clipboard, 'copied');
  },
  'get clipboard': async (driver, phone) => {
    phone.android.clipboard = 'from the phone';
    same(Buffer.from(String(await driver.mobile('getClipboard')), 'base64').toString(), 'from the phone');
  },
  'get orientation': async (driver) => same(await driver.get('orientation'), 'PORTRAIT'),
  'set orientation': async (driver, phone) => {
    await driver.post('orientation', { orientation: turned });
    same(phone.android.rotation, 1);
    await driver.post('orientation', { orientation: 'PORTRAIT' });
  },
  'get rotation': async (driver) => same(await driver.get('rotation'), { x: 0, y: 0, z: 0 }),
  'set rotation': async (driver, phone) => {
    await driver.post('rotation', { x: 0, y: 0, z: 270 });
    same(phone.android.rotation, 3);
    await driver.post('rotation', { x: 0, y: 0, z: 0 });
  },
  'mobile: getDeclaredOrientation': async (driver) =>
    ok(String(await driver.mobile('getDeclaredOrientation')).startsWith('SCREEN_ORIENTATION_')),
  'mobile: listWindows': async (driver) => {
    const windows = (await driver.mobile('listWindows')) as { packageName: string }[];
    ok(windows.some(({ packageName }) => packageName === 'dev.phalanx.sample.form'));
  },
  'mobile: listDisplays': async (driver) => {
    const displays = (await driver.mobile('listDisplays')) as { id: number }[];
    same(displays.length, 1);
  },
  'window rect': async (driver, phone) => {
    const { width, height } = phone.android.display;
    same(await driver.get('window/rect'), { width, height, x: 0, y: 0 });
  },
  'mobile: viewportRect': async (driver, phone) => {
    const { width } = (await driver.mobile('viewportRect')) as { width: number };
    same(width, phone.android.display.width);
  },
  'mobile: resetAccessibilityCache': async (driver) =>
    same(await driver.mobile('resetAccessibilityCache'), null),
};
