import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { defineApp, makeApk, makeZip, type SimulatedPhone, type View } from '@phalanx/simulated-phone';
import { createPhoneTestBed, type PhoneTestBed, waitForState } from '../phones/testing/phone-test-bed.ts';
import type { Driver } from './driver.ts';
import { findNode } from './find-node.ts';

let bed: PhoneTestBed;
beforeEach(async () => {
  bed = await createPhoneTestBed();
});
afterEach(async () => {
  await bed.close();
});

type Options = Omit<Parameters<PhoneTestBed['startPhone']>[0], 'serial'>;

async function startPair(
  options: Options,
  helper: 'uiautomator2' | 'resident' = 'uiautomator2',
): Promise<{ phone: SimulatedPhone; driver: Driver }> {
  const phone = await bed.startPreparedPhone({ serial: 'SIM1', ...options });
  const watch = bed.watch({ addresses: [phone], helper });
  const ready = await waitForState(watch, 'SIM1', 'ready');
  return { phone, driver: ready.driver() };
}

const form = 'dev.phalanx.sample.form';
const packageName = 'dev.phalanx.deep';
const frame = { left: 0, top: 0, right: 1080, bottom: 2400 };

const deep = (level: number): View => ({
  className: 'android.view.View',
  packageName,
  frame,
  text: `level ${level}`,
  children: level === 0 ? [] : [deep(level - 1)],
});

const deepApp = defineApp({
  packageName,
  label: 'Deep',
  icon: '',
  color: '#000000',
  isHome: true,
  state: () => ({}),
  activities: { '.Main': () => () => deep(100) },
});

const oddApp = defineApp({
  packageName,
  label: 'Odd',
  icon: '',
  color: '#000000',
  isHome: true,
  state: () => ({}),
  activities: {
    '.Main': () => () => ({ ...deep(0), text: 'A\0B half \uD83D tab \v none \uFFFE whole 😀' }),
  },
});

describe('the driver on phones that are unusual', () => {
  it('reads a tree that is deeper than the helper shows by itself', async () => {
    const { driver } = await startPair({ apps: [deepApp] });
    const { root } = await driver.call('screen.content', {});
    expect(findNode(root, ({ text }) => text === 'level 0')).toBeDefined();
  });

  it.each([8, 15] as const)(
    'has Android %i index what is written into the shared storage',
    async (android) => {
      const { phone, driver } = await startPair({ android });
      const path = "/sdcard/Pictures/it's größer.jpg";
      await driver.call('file.write', { path, base64: 'YQ==', isFirst: true });
      expect(phone.android.mediaStore.find(path)).toBeUndefined();
      expect(await driver.call('file.scan', { path })).toBe(true);
      expect(phone.android.mediaStore.find(path)).toBeDefined();
      const gone = '/storage/emulated/0/Pictures/none.jpg';
      expect(await driver.call('file.scan', { path: gone })).toBe(false);
    },
  );

  it.each(['uiautomator2', 'resident'] as const)(
    'reads texts that XML can not hold the same by %s',
    async (helper) => {
      const { driver } = await startPair({ apps: [oddApp] }, helper);
      const { source, root } = await driver.call('screen.content', {});
      expect(source).toBe(helper);
      const odd = findNode(root, ({ text }) => text !== null);
      expect(odd?.text).toBe('A?B half ? tab ? none ? whole 😀');
    },
  );

  it('says that a window forbids pictures where the phone gives a black one', async () => {
    const { phone, driver } = await startPair({ uiAutomator2: false });
    phone.faults.secureWindow = true;
    await expect(driver.call('screen.screenshot', {})).rejects.toMatchObject({ code: 'secure_screen' });
  });

  it('sets what its Android has, and says from which on it has the rest', async () => {
    const { phone, driver } = await startPair({ android: 8 });
    await driver.call('phone.settings', { time_zone: 'Asia/Kolkata', http_proxy: '10.0.0.5:3128' });
    expect(phone.android.properties.get('persist.sys.timezone')).toBe('Asia/Kolkata');
    const location = { latitude: 1, longitude: 2 };
    await expect(driver.call('phone.settings', { brightness: 0, location })).rejects.toMatchObject({
      code: 'setting_unsupported',
      message: expect.stringContaining(
        'location can be set from Android 12 on, and the phone has Android 8.',
      ),
    });
    await driver.putSettingsBack(() => true);
    expect(phone.android.properties.get('persist.sys.timezone')).toBe('UTC');
    expect(phone.android.settings.httpProxy).toBeUndefined();
    expect(phone.android.settings.findTable('system')?.get('screen_brightness')).toBe('128');
  });

  it('keeps how a phone was until the phone has taken it back', async () => {
    const { phone, driver } = await startPair({ uiAutomator2: false });
    const { settings } = phone.android;
    const [global, system] = [settings.findTable('global'), settings.findTable('system')];
    if (global !== undefined) settings.put(global, 'http_proxy', '[fd00::5]:3128');
    await driver.call('phone.settings', { brightness: 10, http_proxy: '10.0.0.5:3128' });
    phone.faults.missingServices = ['settings'];
    await driver.putSettingsBack(() => true);
    expect([system?.get('screen_brightness'), settings.httpProxy]).toEqual(['10', '10.0.0.5:3128']);
    phone.faults.missingServices = [];
    await driver.putSettingsBack(() => true);
    expect([system?.get('screen_brightness'), settings.httpProxy]).toEqual(['128', '[fd00::5]:3128']);
  });

  it('changes no setting that the phone does not tell', async () => {
    const programs: Options['programs'] = new Map([
      [
        'settings',
        async ({ args, stdout }) => {
          if (args[0] === 'get') await stdout.write('Error: the provider of settings is busy\n');
          return 0;
        },
      ],
    ]);
    const { driver } = await startPair({ programs, uiAutomator2: false });
    await expect(driver.call('phone.settings', { http_proxy: '10.0.0.5:3128' })).rejects.toMatchObject({
      code: 'setting_refused',
      message: expect.stringContaining('does not say what http_proxy is now'),
    });
  });

  it('says of an app of the work profile whose it is', async () => {
    const { driver } = await startPair({ workProfilePackages: ['com.example.work'] });
    for (const call of ['app.launch', 'app.stop', 'app.clearData', 'app.uninstall'] as const)
      await expect(driver.call(call, { packageName: 'com.example.work' })).rejects.toMatchObject({
        code: 'app_not_found',
        message: expect.stringContaining('user 10'),
      });
  });

  it('starts, stops, lists and changes the apps of the user who is named', async () => {
    const { phone, driver } = await startPair({ workProfilePackages: [form, 'com.example.work'] });
    expect(await driver.call('user.list', {})).toEqual([
      { id: 0, name: 'Owner', isRunning: true },
      { id: 10, name: 'Work profile', isRunning: true },
    ]);
    const names = (await driver.call('app.list', { user: 10 })).map((app) => app.packageName);
    // Android's own packages exist for each user.
    expect(names).toEqual(expect.arrayContaining(['com.example.work', form]));
    expect(names).not.toContain('dev.phalanx.sample.settings');
    const { stack, packages } = phone.android;
    await driver.call('app.launch', { packageName: form });
    await driver.call('app.launch', { packageName: form, user: 10 });
    expect([stack.front.user, await driver.call('app.current', {})]).toMatchObject([
      10,
      { packageName: form },
    ]);
    await driver.call('app.stop', { packageName: form, user: 10 });
    expect([stack.find(form, 10), stack.find(form)?.user]).toEqual([undefined, 0]);
    const permission = 'android.permission.CAMERA';
    await driver.call('app.setPermission', { packageName: form, permission, isGranted: true, user: 10 });
    expect([[...packages.permissionsOf(form, 10)], packages.permissionsOf(form).size]).toEqual([
      [permission],
      0,
    ]);
    await driver.call('app.uninstall', { packageName: form, user: 10 });
    expect([packages.find(form, 10), packages.find(form)?.name]).toEqual([undefined, form]);
    await expect(driver.call('app.launch', { packageName: form, user: 10 })).rejects.toMatchObject({
      code: 'app_not_found',
      message: expect.stringContaining('not installed for user 10, but for user 0'),
    });
  });

  it('put no expansion file of a bundle for another user into the storage of the main one', async () => {
    const { phone, driver } = await startPair({ workProfilePackages: [form] });
    const made = 'com.example.levels';
    const obb = `main.1.${made}.obb`;
    const bundle = makeZip([
      ['base.apk', makeApk({ packageName: made, versionCode: 1, versionName: '1', minSdkVersion: 26 })],
      [`Android/obb/${made}/${obb}`, Buffer.from('levels')],
    ]);
    const path = '/sdcard/Download/levels.xapk';
    phone.android.files.writeFile(path, bundle);
    // The shell may not write into the storage of that user.
    expect(await driver.call('app.install', { path, grantPermissions: false, user: 10 })).toEqual({
      notInstalled: [`Android/obb/${made}/${obb}`],
    });
    const { files, packages } = phone.android;
    expect(packages.listUsers().filter((user) => packages.find(made, user) !== undefined)).toEqual([10]);
    expect(files.findStat(`/sdcard/Android/obb/${made}`)).toBeUndefined();
  });

  it('are not said to be missing for a file whose name has these words', async () => {
    const { driver } = await startPair({ workProfilePackages: [form] });
    const path = '/sdcard/Download/Guide for a user not found.apk';
    await expect(
      driver.call('app.install', { path, grantPermissions: false, user: 10 }),
    ).rejects.toMatchObject({ code: 'file_not_found' });
  });

  it.each([
    [11, 'has no user 11'],
    [10, 'has forbidden debugging'],
  ])('says why nothing can be done for user %i', async (user, part) => {
    const { phone, driver } = await startPair({ workProfilePackages: [form] });
    phone.faults.closedProfile = true;
    const refused = { code: 'user_refused', message: expect.stringContaining(part) };
    for (const call of ['app.launch', 'app.stop', 'app.uninstall'] as const)
      await expect(driver.call(call, { packageName: form, user })).rejects.toMatchObject(refused);
    await expect(driver.call('app.list', { user })).rejects.toMatchObject(refused);
  });

  it('launches an app although the screen is dark, where Android waits for what it draws', async () => {
    const { phone, driver } = await startPair({});
    phone.faults.turnScreenOff();
    await driver.call('app.launch', { packageName: 'com.android.settings' });
    expect(phone.android.currentPackage).toBe('com.android.settings');
  });

  it('says what to switch off where Play Protect refuses the helper', async () => {
    const phone = await bed.startPhone({ serial: 'SIM1' });
    phone.faults.verifyAppsOverUsb = true;
    const ready = await waitForState(bed.watch({ addresses: [phone] }), 'SIM1', 'ready');
    expect(ready.driver().source).toBe('resident');
    expect(ready.state.reason).toContain('Verify apps over USB');
  });
});
