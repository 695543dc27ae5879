import { readFile } from 'node:fs/promises';
import { TEST_APK_PATH } from 'appium-uiautomator2-server';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findApkManifest, makeApk } from './apk.ts';
import { startPhoneWithShell } from '../../testing/phones.ts';

test('package and versions are read from a real APK', async () => {
  expect(findApkManifest(await readFile(TEST_APK_PATH))).toMatchObject({
    packageName: 'io.appium.uiautomator2.server.test',
    minSdkVersion: 26,
  });
});

test('a made APK is read as it was made', () => {
  const manifest = { packageName: 'com.example.made', versionCode: 7, versionName: '1.7', minSdkVersion: 26 };
  expect(findApkManifest(makeApk(manifest))).toEqual({ ...manifest, launchers: [], permissions: [] });
});

test('an installed APK is an app of the phone, whose screens are empty, and goes with its package', async () => {
  const { phone, shell } = await startPhoneWithShell();
  const manifest = { packageName: 'com.example.made', versionCode: 7, versionName: '1.7', minSdkVersion: 26 };
  phone.android.files.writeFile(
    '/sdcard/x.apk',
    makeApk({ ...manifest, launchers: ['com.example.made.Main'] }),
  );
  await shell('pm install /sdcard/x.apk');
  expect((await shell('cmd package resolve-activity --brief com.example.made')).stdout).toContain('/.Main\n');
  expect((await shell('am start -W -n com.example.made/.Main')).stdout).toContain('Status: ok');
  expect(phone.android.currentActivity).toBe('com.example.made/com.example.made.Main');
  await shell('pm uninstall com.example.made');
  expect(phone.android.currentPackage).not.toBe('com.example.made');
  expect((await shell('am start -n com.example.made/.Main')).stderr).toContain('does not exist');
});

test('a damaged APK is no APK or still has a valid name, and never throws', async () => {
  const apk = await readFile(TEST_APK_PATH);
  fc.assert(
    fc.property(fc.nat(apk.length - 1), fc.nat(255), fc.boolean(), (offset, byte, isCut) => {
      const damaged = isCut ? apk.subarray(0, offset) : Buffer.from(apk);
      if (!isCut) damaged[offset] = byte;
      const found = findApkManifest(damaged);
      expect(found === undefined || /^[\w.]+$/.test(found.packageName)).toBe(true);
    }),
    { numRuns: 100 },
  );
});
