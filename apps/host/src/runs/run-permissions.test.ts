import { describe, expect, it } from 'vitest';

import { requirePermission } from './run-permissions.ts';

const closed = { changeApps: false, shell: false, messages: false };
const open = { changeApps: true, shell: true, messages: true };
const app = { packageName: 'com.example' };

describe('what an operator has not opened', () => {
  it.each(['app.install', 'app.uninstall', 'app.clearData', 'app.setPermission'] as const)(
    '%s names its setting',
    (name) => {
      expect(() => requirePermission(name, app, { ...open, changeApps: false })).toThrow(
        expect.objectContaining({
          code: 'not_allowed',
          message: expect.stringContaining('PHALANX_ALLOW_APP_CHANGES=true'),
        }),
      );
      expect(requirePermission(name, app, open)).toEqual(app);
    },
  );

  it('is the shell, with its setting', () => {
    const call = { command: 'id', timeoutMs: 1 };
    expect(() => requirePermission('phone.shell', call, closed)).toThrow('PHALANX_ALLOW_SHELL=true');
    expect(requirePermission('phone.shell', call, open)).toEqual(call);
  });

  it('is the inbox, with its setting', () => {
    const call = { since: 0 };
    expect(() => requirePermission('message.list', call, closed)).toThrow('PHALANX_ALLOW_SMS=true');
    expect(requirePermission('message.list', call, open)).toEqual(call);
  });

  it.each([
    '/data/local/tmp/x',
    '/sdcard/../data/local/tmp/x',
    '/sdcard/a/../../../data/x',
    '/sdcardx/y',
    '/storage/emulated/0/../../../data/x',
    '/storage/../data/x',
    '/proc/self/environ',
    '//data/x',
  ])('are files outside of the shared storage: %s', (path) => {
    for (const name of ['file.read', 'file.write', 'file.list', 'file.delete'] as const)
      expect(() => requirePermission(name, { path }, { ...open, shell: false })).toThrow(
        'PHALANX_ALLOW_SHELL=true',
      );
    expect(() => requirePermission('file.read', { path }, open)).not.toThrow();
  });

  it.each([
    ['/sdcard/Download/x', '/sdcard/Download/x'],
    ['/sdcard/a/../b', '/sdcard/b'],
    ['/storage/emulated/0/x', '/storage/emulated/0/x'],
    ['/storage/1A2B-3C4D/x', '/storage/1A2B-3C4D/x'],
  ])('are not %s, which is read as %s', (path, shortest) => {
    expect(requirePermission('file.read', { path, part: 0 }, closed)).toEqual({ path: shortest, part: 0 });
  });

  it('is nothing of what every automation may do', () => {
    expect(requirePermission('app.list', {}, closed)).toEqual({});
    expect(requirePermission('app.stop', app, closed)).toEqual(app);
  });
});
