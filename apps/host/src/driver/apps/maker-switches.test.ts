import { makeApk, type SimulatedPhone } from '@phalanx/simulated-phone';
import type { MakerName } from '@phalanx/simulated-phone/profiles';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createPhoneTestBed, type PhoneTestBed, waitForState } from '../../phones/testing/phone-test-bed.ts';
import type { Driver } from '../driver.ts';

let bed: PhoneTestBed;
beforeEach(async () => {
  bed = await createPhoneTestBed();
});
afterEach(async () => {
  await bed.close();
});

async function start(profile: MakerName): Promise<{ phone: SimulatedPhone; driver: Driver }> {
  const phone = await bed.startPreparedPhone({ serial: 'SIM1', profile });
  const ready = await waitForState(bed.watch({ addresses: [phone] }), 'SIM1', 'ready');
  return { phone, driver: ready.driver() };
}

it.each([
  { profile: 'xiaomi', advice: 'What may help: switch on "USB debugging (Security settings)"' },
  { profile: 'pixel', advice: undefined },
] as const)(
  '$profile that refuses a swipe without a cause gives advice of its own maker at most',
  async ({ profile, advice }) => {
    const { phone, driver } = await start(profile);
    phone.faults.restrictedDebugging = true;
    const way = { fromX: 5, fromY: 900, toX: 5, toY: 5, durationMs: 10 };
    const error = String(await driver.call('input.swipe', way).catch((caught: unknown) => caught));
    expect(error).toContain('Unable to perform W3C actions');
    expect([error.includes('Xiaomi phones'), error.includes(advice ?? ' help')]).toEqual([
      false,
      advice !== undefined,
    ]);
  },
);

const form = { packageName: 'dev.phalanx.sample.form' };
const acts: Readonly<Record<string, (driver: Driver) => Promise<unknown>>> = {
  tap: (driver) => driver.call('input.tap', { x: 5, y: 5 }),
  clear: (driver) => driver.call('app.clearData', form),
  async install(driver) {
    const path = '/sdcard/Download/x.apk';
    const apk = makeApk({ packageName: 'com.example', versionCode: 1, versionName: '1', minSdkVersion: 26 });
    await driver.call('file.write', { path, base64: apk.toString('base64'), isFirst: true });
    await driver.call('app.install', { path, grantPermissions: false });
  },
};

it.each([
  { profile: 'xiaomi', act: 'tap', press: 'switch on "USB debugging (Security settings)"' },
  { profile: 'xiaomi', act: 'clear', press: 'switch on "USB debugging (Security settings)"' },
  { profile: 'xiaomi', act: 'install', press: 'switch on "Install via USB"' },
  { profile: 'oppo', act: 'tap', press: 'switch on "Disable permission monitoring"' },
  { profile: 'oppo', act: 'clear', press: 'switch on "Disable permission monitoring"' },
  { profile: 'vivo', act: 'tap', press: 'switch on "USB simulated click"' },
  { profile: 'vivo', act: 'install', press: 'set USB to file transfer' },
  { profile: 'huawei', act: 'tap', press: 'on Xiaomi phones switch on "USB debugging' },
] as const)(
  '$profile says what to press for $act, and no switch of others',
  async ({ profile, act, press }) => {
    const { phone, driver } = await start(profile);
    phone.faults.restrictedDebugging = true;
    const error = await acts[act]?.(driver).catch((caught: unknown) => caught);
    const advice = String(error).split(' What helps: ')[1] ?? '';
    expect(advice.startsWith(press), String(error)).toBe(true);
    expect(advice.includes('; on ')).toBe(profile === 'huawei');
  },
);

it.each([
  { profile: 'samsung', press: 'Auto Blocker' },
  { profile: 'huawei', press: 'Allow ADB debugging in charge only mode' },
  { profile: 'pixel', press: 'Default USB configuration' },
] as const)('$profile that leaves its cable may have done so by a switch', async ({ profile, press }) => {
  const adb = await bed.startScriptedAdb();
  const phone = await bed.startPreparedPhone({ serial: 'SIM1', profile });
  adb.plug({ serial: 'SIM1', state: 'device', usb: '1-4', phone });
  const watch = bed.watch({ adbServer: adb.address });
  await waitForState(watch, 'SIM1', 'ready');
  adb.unplug('SIM1');
  const away = await waitForState(watch, 'SIM1', 'offline');
  await expect.poll(() => away.state.reason).toContain(press);
});
