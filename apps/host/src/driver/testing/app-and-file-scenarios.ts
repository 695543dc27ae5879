import type { ShellResult } from '@phalanx/protocol';
import { makeApk, makeZip } from '@phalanx/simulated-phone';
import { expect } from 'vitest';
import type { Driver } from '../driver.ts';
import { type DriverScenario, fail } from './driver-scenario.ts';

const partBytes = 100_000;

async function permissionsOf(driver: Driver, packageName: string): Promise<string> {
  const command = `dumpsys package ${packageName}`;
  return (await driver.call('phone.shell', { command, timeoutMs: 5000 })).stdout;
}

/** Scenarios of calls that need the operator's permission, and of files. */
export const appAndFileScenarios: readonly DriverScenario[] = [
  {
    behaviour: 'installs, clears, and uninstalls an app, and grants it what it asks for',
    async run(driver) {
      const packageName = 'com.example.made';
      const permission = 'android.permission.CAMERA';
      const path = '/sdcard/Download/made.apk';
      const apk = makeApk({ packageName, versionCode: 7, versionName: '1.7', minSdkVersion: 26 });
      await driver.call('file.write', { path, base64: apk.toString('base64'), isFirst: true });
      await driver.call('app.install', { path, grantPermissions: true });
      expect(await driver.call('app.list', {})).toContainEqual({ packageName, isSystem: false });
      expect(await driver.call('app.list', {})).toContainEqual({ packageName: 'android', isSystem: true });
      await driver.call('app.setPermission', { packageName, permission, isGranted: true });
      expect(await permissionsOf(driver, packageName)).toContain(permission);
      await driver.call('app.setPermission', { packageName, permission, isGranted: false });
      expect(await permissionsOf(driver, packageName)).not.toContain(permission);
      await driver.call('app.clearData', { packageName });
      await driver.call('app.uninstall', { packageName });
      expect(await driver.call('app.list', {})).not.toContainEqual({ packageName, isSystem: false });
      const gone = fail('app_not_found');
      await expect(driver.call('app.uninstall', { packageName })).rejects.toEqual(gone);
      await expect(driver.call('app.clearData', { packageName })).rejects.toEqual(gone);
    },
  },
  {
    behaviour: 'installs the APKs of a bundle together, and says what to do with one for a store',
    async run(driver) {
      const packageName = 'com.example.split';
      const path = '/sdcard/Download/split.xapk';
      const install = async (entries: Parameters<typeof makeZip>[0]): Promise<void> => {
        const base64 = makeZip(entries).toString('base64');
        await driver.call('file.write', { path, base64, isFirst: true });
        await driver.call('app.install', { path, grantPermissions: false });
      };
      const apk = makeApk({ packageName, versionCode: 1, versionName: '1', minSdkVersion: 26 });
      const json = Buffer.from('{}');
      await install([
        ['manifest.json', json],
        ['base.apk', apk],
        ['config.en.apk', apk],
      ]);
      expect(await driver.call('app.list', {})).toContainEqual({ packageName, isSystem: false });
      await driver.call('app.uninstall', { packageName });
      const other = makeApk({
        packageName: 'com.example.other',
        versionCode: 1,
        versionName: '1',
        minSdkVersion: 26,
      });
      for (const [entries, said] of [
        [
          [
            ['base.apk', apk],
            ['config.apk', other],
          ],
          'INVALID_APK',
        ],
        [
          [
            ['toc.pb', json],
            ['splits/base-master.apk', apk],
          ],
          'bundletool',
        ],
        [[['BundleConfig.pb', json]], 'for a store'],
      ] as const)
        await expect(install(entries)).rejects.toMatchObject({
          code: 'app_change_refused',
          message: expect.stringContaining(said),
        });
      await driver.call('file.delete', { path });
      expect(
        (await driver.call('phone.shell', { command: 'ls /data/local/tmp', timeoutMs: 5000 })).stdout,
      ).not.toMatch(/phalanx-.{36}/);
    },
  },
  {
    behaviour: "tells the phone's answer to an app change that it refuses",
    async run(driver) {
      const path = '/sdcard/Download/none.apk';
      const refused = fail('app_change_refused');
      await expect(driver.call('app.install', { path, grantPermissions: false })).rejects.toEqual(
        fail('file_not_found'),
      );
      await driver.call('file.write', { path, base64: btoa('no APK'), isFirst: true });
      await expect(driver.call('app.install', { path, grantPermissions: false })).rejects.toMatchObject({
        code: 'app_change_refused',
        message: expect.stringContaining('Failed to parse APK file'),
      });
      const named = '/sdcard/Download/x: No such file or directory/none.apk';
      await driver.call('phone.shell', { command: `mkdir -p '${named}'`, timeoutMs: 5000 });
      await expect(driver.call('file.delete', { path: named })).rejects.toEqual(fail('file_refused'));
      await expect(driver.call('app.uninstall', { packageName: 'com.android.systemui' })).rejects.toEqual(
        refused,
      );
      const unknown = { packageName: 'dev.phalanx.sample.form', permission: 'no.such', isGranted: true };
      await expect(driver.call('app.setPermission', unknown)).rejects.toMatchObject({
        message: expect.stringContaining('Unknown permission: no.such'),
      });
    },
  },
  {
    behaviour: 'writes a file in parts, lists, reads and deletes it',
    async run(driver) {
      const path = "/sdcard/Download/it's new/größe 1.bin";
      const bytes = Buffer.alloc(partBytes + 100, 'abc');
      const parts = [bytes.subarray(0, partBytes), bytes.subarray(partBytes)];
      for (const [index, part] of parts.entries())
        await driver.call('file.write', { path, base64: part.toString('base64'), isFirst: index === 0 });
      expect(await driver.call('file.list', { path: "/sdcard/Download/it's new" })).toEqual([
        { name: 'größe 1.bin', isFolder: false, sizeBytes: bytes.length, modifiedAt: expect.any(Number) },
      ]);
      for (const [part, content] of parts.entries())
        expect(await driver.call('file.read', { path, part, partBytes })).toEqual({
          base64: content.toString('base64'),
          sizeBytes: bytes.length,
        });
      expect(await driver.call('file.list', { path: '/sdcard/Download' })).toContainEqual(
        expect.objectContaining({ name: "it's new", isFolder: true }),
      );
      expect(await driver.call('file.scan', { path })).toBe(true);
      expect(await driver.call('file.scan', { path: '/sdcard/Download/none.jpg' })).toBe(false);
      expect(await driver.call('file.scan', { path: '/data/local/tmp/x' })).toBe(false);
      await driver.call('file.delete', { path });
      const gone = fail('file_not_found');
      await expect(driver.call('file.read', { path, part: 0, partBytes })).rejects.toEqual(gone);
      await expect(driver.call('file.delete', { path })).rejects.toEqual(gone);
      expect(await driver.call('file.list', { path: "/sdcard/Download/it's new" })).toEqual([]);
      await expect(driver.call('file.list', { path: '/sdcard/none' })).rejects.toEqual(gone);
      await expect(
        driver.call('file.write', { path: '/system/x', base64: '', isFirst: true }),
      ).rejects.toEqual(fail('file_refused'));
    },
  },
  {
    behaviour: 'runs a command in the shell, ends it in time, and bounds what it prints',
    async run(driver) {
      const run = (command: string, timeoutMs = 5000): Promise<ShellResult> =>
        driver.call('phone.shell', { command, timeoutMs });
      expect(await run('echo a; echo b >&2; false')).toEqual({ stdout: 'a\n', stderr: 'b\n', exitCode: 1 });
      await expect(run('sleep 20', 50)).rejects.toMatchObject({
        code: 'call_timed_out',
        message: expect.stringContaining('0.05 s'),
      });
      const path = '/sdcard/Download/long.bin';
      const base64 = Buffer.alloc(300 * 1024, 'x').toString('base64');
      await driver.call('file.write', { path, base64, isFirst: true });
      await expect(run(`cat ${path}`)).rejects.toEqual(fail('output_too_large'));
      await driver.call('file.delete', { path });
    },
  },
];
