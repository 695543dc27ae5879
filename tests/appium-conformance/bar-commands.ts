import { deepStrictEqual as same, ok } from 'node:assert/strict';

import type { Commands } from './command.ts';

export const barCommands: Commands = {
  'system bars': async (driver) => {
    const bars = (await driver.mobile('getSystemBars')) as { statusBar: { height: number } };
    ok(bars.statusBar.height > 0);
  },
  'mobile: openNotifications': async (driver, phone) => {
    await driver.mobile('openNotifications');
    same(phone.android.overlay, 'shade');
  },
  'mobile: statusBar': async (driver, phone) => {
    await driver.mobile('statusBar', { command: 'expandNotifications' });
    same(phone.android.overlay, 'shade');
    await driver.mobile('statusBar', { command: 'collapse' });
    same(phone.android.overlay, undefined);
  },
  'mobile: pressKey': async (driver, phone) => {
    await driver.mobile('pressKey', { keycode: 3 });
    ok(phone.android.currentPackage !== 'dev.phalanx.sample.form');
  },
  back: async (driver, phone) => {
    await driver.post(`element/${await driver.findText('Country')}/click`);
    await driver.post('back');
    ok(phone.android.currentActivity.endsWith('FormActivity'));
  },
  'hide keyboard': async (driver, phone) => {
    const field = await driver.find('class name', 'android.widget.EditText');
    await driver.post(`element/${field}/click`);
    same(await driver.mobile('isKeyboardShown'), true);
    await driver.mobile('hideKeyboard');
    same(phone.android.isKeyboardShown, false);
  },
  'alert: text': async (driver, phone) => {
    phone.faults.showDialog();
    ok(String(await driver.get('alert/text')).includes('Update available'));
  },
  'alert: dismiss': async (driver, phone) => {
    phone.faults.showDialog();
    await driver.post('alert/dismiss');
    same(phone.android.stack.top.dialog, undefined);
  },
};
