import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SimulatedPhone } from '@phalanx/simulated-phone';
import { PhonePins } from '../phones/phone-pins.ts';
import {
  createPhoneTestBed,
  type PhoneTestBed,
  waitForPhone,
  waitForState,
} from '../phones/testing/phone-test-bed.ts';
import { findNode } from './find-node.ts';
import { PhoneUse } from './phone-use.ts';
import type { Driver } from './driver.ts';

let bed: PhoneTestBed;
beforeEach(async () => {
  bed = await createPhoneTestBed();
});
afterEach(async () => {
  await bed.close();
});

async function startPair(source: Driver['source']): Promise<{ phone: SimulatedPhone; driver: Driver }> {
  const phone = await bed.startPreparedPhone({ serial: 'SIM1', uiAutomator2: source === 'uiautomator2' });
  const watch = bed.watch({ addresses: [phone], helper: 'uiautomator2' });
  const driver = (await waitForState(watch, 'SIM1', 'ready')).driver();
  return { phone, driver };
}

describe('the fallback driver', () => {
  it('tells the story when "uiautomator dump" gives no tree, and reads again when it does', async () => {
    const { phone, driver } = await startPair('dump');
    phone.faults.uiautomator = 'idle';
    await expect(driver.call('screen.content', {})).rejects.toMatchObject({
      code: 'screen_not_readable',
      message: expect.stringMatching(/SIM1.*3 attempts.*could not get idle state.*moves all the time/s),
    });
    phone.faults.uiautomator = 'null-root';
    await expect(driver.call('screen.content', {})).rejects.toMatchObject({
      code: 'screen_not_readable',
      message: expect.stringContaining('null root node'),
    });
    phone.faults.uiautomator = 'killed';
    await expect(driver.call('screen.content', {})).rejects.toMatchObject({
      code: 'screen_not_readable',
      message: expect.stringContaining('Killed'),
    });
    phone.faults.uiautomator = 'noise-before-xml';
    await expect(driver.call('screen.content', {})).resolves.toMatchObject({ source: 'dump' });
  });

  it('does not take an older dump for the screen of now, and leaves no file behind', async () => {
    const { phone, driver } = await startPair('dump');
    await driver.call('screen.content', {});
    phone.faults.uiautomator = 'idle';
    await expect(driver.call('screen.content', {})).rejects.toMatchObject({ code: 'screen_not_readable' });
    const names = phone.android.files.listDirectory('/data/local/tmp').map(({ name }) => name);
    expect(names.filter((name) => name.startsWith('phalanx'))).toEqual([]);
  });

  it('says that the screen is off', async () => {
    const { phone, driver } = await startPair('dump');
    phone.faults.turnScreenOff();
    phone.faults.uiautomator = 'null-root';
    await expect(driver.call('screen.content', {})).rejects.toMatchObject({
      message: expect.stringContaining('WAKEUP (224)'),
    });
    phone.faults.uiautomator = undefined;
    await driver.call('input.key', { keyCode: 224 });
    expect(phone.android.isScreenOn).toBe(true);
  });
});

describe('the clipboard', () => {
  it.each([
    { android: 8 as const, read: 'आदाب 📋' },
    { android: 11 as const, read: 'clipboard_refused' },
  ])('is read on Android $android as far as that shows it', async ({ android, read }) => {
    const phone = await bed.startPreparedPhone({ serial: 'SIM1', android });
    const watch = bed.watch({ addresses: [phone] });
    const driver = (await waitForState(watch, 'SIM1', 'ready')).driver();
    await driver.call('clipboard.write', { text: 'आदाب 📋' });
    const said = await driver.call('clipboard.read', {}).catch(({ code }: { code: string }) => code);
    expect(said).toBe(read);
  });
});

describe('changes of apps that a maker keeps for itself', () => {
  it.each([
    { profile: 'xiaomi' as const, said: 'CLEAR_APP_USER_DATA', press: 'Security settings' },
    {
      profile: 'oppo' as const,
      said: 'adb clearing user data is forbidden',
      press: 'Disable permission monitoring',
    },
  ])('are told with what to do on a phone of $profile', async ({ profile, said, press }) => {
    const phone = await bed.startPreparedPhone({ serial: 'SIM1', profile });
    const watch = bed.watch({ addresses: [phone] });
    const driver = (await waitForState(watch, 'SIM1', 'ready')).driver();
    const form = { packageName: 'dev.phalanx.sample.form' };
    const camera = { ...form, permission: 'android.permission.CAMERA', isGranted: true };
    const path = '/sdcard/Download/x.apk';
    await driver.call('file.write', { path, base64: '', isFirst: true });
    const refusals = await Promise.allSettled([
      driver.call('app.clearData', form),
      driver.call('app.setPermission', camera),
      driver.call('app.install', { path, grantPermissions: true }),
    ]);
    const messages = refusals.map((result) => (result.status === 'rejected' ? String(result.reason) : ''));
    expect(messages[0]).toContain(said);
    expect(messages[1]).toContain('Neither user 2000 nor current process');
    expect(messages[2]).toContain('Install it without grantPermissions.');
    for (const message of messages) expect(message).toContain(press);
  });
});

describe('phones of makers', () => {
  it.each(['pixel', 'samsung', 'xiaomi', 'oppo', 'tablet-noname'] as const)(
    '%s takes the helper and launches apps',
    async (profile) => {
      const phone = await bed.startPhone({ serial: 'SIM1', profile, android: profile === 'oppo' ? 8 : 13 });
      const watch = bed.watch({ addresses: [phone] });
      const ready = await waitForPhone(watch, ({ state }) => state.state === 'ready');
      expect(ready.driver().source).toBe('uiautomator2');
      const settings = { packageName: 'com.android.settings' };
      await ready.driver().call('app.launch', settings);
      expect(await ready.driver().call('app.current', {})).toMatchObject(settings);
      await ready.driver().call('app.stop', settings);
    },
  );

  it('two of one serial number are two phones, and each keeps its own driver', async () => {
    const phones = [
      await bed.startPreparedPhone({ serial: 'SAME' }),
      await bed.startPreparedPhone({ serial: 'SAME' }),
    ];
    const watch = bed.watch({ addresses: phones });
    await expect.poll(() => watch.phones().filter(({ state }) => state.state === 'ready').length).toBe(2);
    const names = watch.phones().map(({ serial }) => serial);
    expect(names).toContain('SAME');
    const other = watch.phones().find(({ serial }) => serial !== 'SAME');
    expect(other?.serial).toMatch(/^SAME@127\.0\.0\.1:\d+$/);
    await phones.find(({ port }) => !other?.serial.endsWith(`:${port}`))?.stop();
    await waitForState(watch, 'SAME', 'offline');
    expect(other?.state.state).toBe('ready');
  });

  it('one with the number that all of its kind carry is known by its place', async () => {
    const phone = await bed.startPreparedPhone({ serial: 'any', profile: 'tablet-noname' });
    const watch = bed.watch({ addresses: [phone] });
    const ready = await waitForState(watch, `127.0.0.1:${phone.port}`, 'ready');
    expect(ready.isIdentified).toBe(true);
  });

  it('one that refused the helper gets it as soon as its switch is on', async () => {
    const phone = await bed.startPhone({ serial: 'SIM1', profile: 'xiaomi' });
    phone.faults.restrictedDebugging = true;
    const watch = bed.watch({ addresses: [phone], timings: { helperRetryMs: 50 }, helper: 'uiautomator2' });
    const ready = await waitForState(watch, 'SIM1', 'ready');
    expect(ready.driver().source).toBe('dump');
    expect(ready.state.reason).toContain('Install via USB');
    phone.faults.restrictedDebugging = false;
    await waitForPhone(watch, ({ state }) => state.state === 'ready' && ready.driver().source !== 'dump');
    expect(ready.state.reason).toBe('The phone is ready.');
  });

  it('one that wants its PIN after a restart is locked, and ready by itself after it', async () => {
    const phone = await bed.startPreparedPhone({ serial: 'SIM1', pin: '1234', bootMs: 50 });
    const watch = bed.watch({ addresses: [phone] });
    await waitForState(watch, 'SIM1', 'ready');
    phone.faults.reboot();
    const locked = await waitForState(watch, 'SIM1', 'locked');
    expect(locked.state.reason).toContain('PIN');
    phone.android.lockScreen.dismiss();
    phone.android.lockScreen.type('1234');
    phone.android.lockScreen.confirm();
    await waitForState(watch, 'SIM1', 'ready');
  });

  it('one whose PIN the host knows is unlocked after a restart, and for a run', async () => {
    const phone = await bed.startPreparedPhone({ serial: 'SIM1', pin: '1234', bootMs: 50 });
    const pins = new PhonePins(new Map([['SIM1', '1234']]));
    const watch = bed.watch({ addresses: [phone], pins });
    await waitForState(watch, 'SIM1', 'ready');
    phone.faults.reboot();
    await waitForPhone(watch, ({ state }) => state.state !== 'ready');
    const ready = await waitForState(watch, 'SIM1', 'ready');
    phone.faults.turnScreenOff();
    expect(phone.android.isLocked).toBe(true);
    const letSleep = ready.screen.hold();
    await expect.poll(() => phone.android.isLocked).toBe(false);
    letSleep();
  });

  it('one that does not tell the size of its screen is asked again, and has none of 0 × 0', async () => {
    const phone = await bed.startPreparedPhone({ serial: 'SIM1' });
    phone.android.properties.set('ro.product.model', 'Two\nOverride size: 7x9\nlines');
    phone.faults.missingServices = ['window'];
    const watch = bed.watch({ addresses: [phone] });
    const unsized = await waitForState(watch, 'SIM1', 'unresponsive');
    expect(unsized.state.reason).toContain('does not tell the size of its screen');
    phone.faults.missingServices = [];
    const ready = await waitForState(watch, 'SIM1', 'ready');
    expect(ready.description).toMatchObject({
      model: 'Two Override size: 7x9 lines',
      androidVersion: '15',
      screenWidth: 1080,
      screenHeight: 2400,
      densityDpi: 420,
    });
  });

  it('one that does not tell whether it is locked gets no PIN', async () => {
    const phone = await bed.startPreparedPhone({ serial: 'SIM1' });
    const watch = bed.watch({ addresses: [phone], pins: new PhonePins(new Map([['*', '1234']])) });
    const ready = await waitForState(watch, 'SIM1', 'ready');
    phone.faults.missingServices = ['window'];
    const letSleep = ready.screen.hold();
    await ready.driver().call('device.info', {});
    const keys = phone.android.inputs.list().flatMap((event) => (event.kind === 'key' ? [event.code] : []));
    expect(keys.filter((code) => code >= 7 && code <= 16)).toEqual([]);
    letSleep();
  });

  it('one that its PIN does not open is tried twice, and the reason says so without the PIN', async () => {
    const phone = await bed.startPreparedPhone({ serial: 'SIM1', pin: '1234', bootMs: 50 });
    const watch = bed.watch({ addresses: [phone], pins: new PhonePins(new Map([['*', '9876']])) });
    await waitForState(watch, 'SIM1', 'ready');
    phone.faults.reboot();
    const locked = await waitForPhone(watch, ({ state }) => state.reason.includes('twice'));
    expect(locked.state).toMatchObject({ state: 'locked', reason: expect.not.stringContaining('9876') });
    const enters = (): number =>
      phone.android.inputs.list().filter((event) => event.kind === 'key' && event.code === 66).length;
    expect(enters()).toBe(2);
    phone.android.lockScreen.dismiss();
    phone.android.lockScreen.type('1234');
    phone.android.lockScreen.confirm();
    await waitForState(watch, 'SIM1', 'ready');
    expect(enters()).toBe(2);
  });

  it('a screen is woken and opened for who works with it, and may sleep after that', async () => {
    const phone = await bed.startPreparedPhone({ serial: 'SIM1' });
    const ready = await waitForState(bed.watch({ addresses: [phone] }), 'SIM1', 'ready');
    phone.android.settings.findTable('system')?.set('screen_off_timeout', '1');
    await expect.poll(() => phone.android.isScreenOn).toBe(false);
    const letSleep = ready.screen.hold();
    await ready.driver().call('device.info', {});
    expect([phone.android.isScreenOn, phone.android.isLocked]).toEqual([true, false]);
    letSleep();
    await expect.poll(() => phone.android.isScreenOn).toBe(false);
  });
});

describe('the UiAutomator2 driver', () => {
  it('says that the app forbids pictures, while the tree can still be read', async () => {
    const { phone, driver } = await startPair('uiautomator2');
    phone.faults.secureWindow = true;
    await expect(driver.call('screen.screenshot', {})).rejects.toMatchObject({ code: 'secure_screen' });
    await expect(driver.call('screen.content', {})).resolves.toMatchObject({ source: 'uiautomator2' });
  });

  it('works on with the screen off, and wakes it', async () => {
    const { phone, driver } = await startPair('uiautomator2');
    phone.faults.turnScreenOff();
    const outcome = await driver.call('screen.content', {}).then(
      () => 'read',
      (error: unknown) => (error instanceof Error && 'code' in error ? error.code : error),
    );
    expect(['read', 'screen_not_readable']).toContain(outcome);
    await driver.call('input.key', { keyCode: 224 });
    expect(phone.android.isScreenOn).toBe(true);
  });

  it('types a password in several calls, which shows only its dots', async () => {
    const { phone, driver: base } = await startPair('uiautomator2');
    const driver = base.usedBy(new PhoneUse(new AbortController().signal));
    phone.android.startActivity('dev.phalanx.sample.form');
    const { root } = await driver.call('screen.content', {});
    const field = findNode(root, ({ password }) => password)?.boundsInScreen;
    await driver.call('input.tap', { x: (field?.left ?? 0) + 10, y: (field?.top ?? 0) + 10 });
    await driver.call('input.text', { text: 'söme' });
    await driver.call('input.text', { text: ' thing' });
    expect(phone.android.findFieldText('password')).toBe('söme thing');
    await driver.call('input.key', { keyCode: 67 });
    await expect(driver.call('input.text', { text: 'x' })).rejects.toMatchObject({
      code: 'text_not_typable',
    });
    await driver.call('input.clearText', {});
    await driver.call('input.text', { text: 'new' });
    expect(phone.android.findFieldText('password')).toBe('new');
  });

  it('types on when the helper has forgotten the elements that it named first', async () => {
    const { phone, driver } = await startPair('uiautomator2');
    phone.android.startActivity('dev.phalanx.sample.form');
    const { root } = await driver.call('screen.content', {});
    const field = findNode(root, ({ className, password }) => /EditText/.test(className ?? '') && !password);
    const { left, top } = field?.boundsInScreen ?? { left: 0, top: 0 };
    await driver.call('input.tap', { x: left + 10, y: top + 10 });
    for (let call = 0; call < 510; call += 1) await driver.call('input.text', { text: 'x' });
    await driver.call('input.text', { text: 'y' });
    const after = await driver.call('screen.content', {});
    expect(findNode(after.root, ({ focused }) => focused)?.text).toBe(`${'x'.repeat(510)}y`);
  });

  it('says that the phone refuses input, whatever the call was', async () => {
    const { phone, driver } = await startPair('uiautomator2');
    phone.faults.restrictedDebugging = true;
    const swipe = { fromX: 5, fromY: 900, toX: 5, toY: 5, durationMs: 10 };
    for (const call of [
      driver.call('input.tap', { x: 5, y: 5 }),
      driver.call('input.swipe', swipe),
      driver.call('input.key', { keyCode: 3 }),
    ])
      await expect(call).rejects.toMatchObject({
        code: 'input_refused',
        message: expect.stringContaining('did not take simulated input'),
      });
  });

  it('gives the tree without the toast, and the toast beside it', async () => {
    const { phone, driver } = await startPair('uiautomator2');
    phone.android.startActivity('com.android.settings');
    phone.android.notices.showToast('Saved');
    const tree = await driver.call('screen.content', {});
    expect(tree.announced).toEqual(['Saved']);
    expect(tree.root.className).toBe('android.widget.FrameLayout');
    expect(findNode(tree.root, ({ className }) => className === 'android.widget.Toast')).toBeUndefined();
  });

  it('starts the helper anew when Android ended its UiAutomation, although it says that all is well', async () => {
    const phone = await bed.startPreparedPhone({ serial: 'SIM1' });
    phone.faults.rootWaitMs = 50;
    const watch = bed.watch({ addresses: [phone] });
    const ready = await waitForState(watch, 'SIM1', 'ready');
    const first = ready.driver();
    phone.faults.killUiAutomation();
    await expect(first.call('screen.content', {})).rejects.toMatchObject({ code: 'ui_helper_failed' });
    await waitForPhone(watch, ({ state }) => state.state === 'ready' && ready.driver() !== first);
    await expect(ready.driver().call('screen.content', {})).resolves.toMatchObject({
      source: 'uiautomator2',
    });
  });

  it('reads on when the charger is pulled', async () => {
    const { phone, driver } = await startPair('uiautomator2');
    phone.android.battery.setPlugged(false);
    await expect(driver.call('screen.content', {})).resolves.toBeDefined();
  });

  it('says that the notification shade is in front, and not the app below it', async () => {
    const { phone, driver } = await startPair('uiautomator2');
    phone.android.startActivity('com.android.settings');
    await driver.call('navigate.notifications', {});
    expect(await driver.call('app.current', {})).toEqual({
      packageName: 'com.android.systemui',
      activity: null,
    });
  });

  it('leaves nothing behind on a phone whose link was cut: its server would listen to everybody', async () => {
    const phone = await bed.startPreparedPhone({ serial: 'SIM1' });
    const watch = bed.watch({ addresses: [phone] });
    await waitForState(watch, 'SIM1', 'ready');
    await watch.close();
    await expect.poll(() => phone.isUiServerRunning).toBe(false);
  });

  it('survives a link that is cut in the middle of an answer', async () => {
    const phone = await bed.startPreparedPhone({ serial: 'SIM1' });
    const watch = bed.watch({ addresses: [phone] });
    const ready = await waitForState(watch, 'SIM1', 'ready');
    const first = ready.driver();
    phone.faults.dropAfterBytes = 1;
    await expect(first.call('screen.screenshot', {})).rejects.toMatchObject({ code: 'phone_gone' });
    phone.faults.dropAfterBytes = undefined;
    // The call may detect the cut before the phone's state changes.
    await waitForPhone(watch, (other) => other.state.state === 'ready' && other.driver() !== first);
    await expect(ready.driver().call('screen.screenshot', {})).resolves.toMatchObject({
      mimeType: 'image/jpeg',
    });
  });
});
