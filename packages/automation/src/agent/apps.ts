import type { AgentBridge } from './agent-bridge.ts';
import { createUuid } from './uuid.ts';

export function createApps(bridge: AgentBridge, files: Pick<AgentFiles, 'write' | 'delete'>): AgentApps {
  const install = (path: string, { grantPermissions = false, signal }: InstallOptions): Promise<void> =>
    bridge.call('app.install', { path, grantPermissions }, signal);
  const setPermission = (packageName: string, permission: string, isGranted: boolean): Promise<void> =>
    bridge.call('app.setPermission', { packageName, permission, isGranted });
  return {
    list: () => bridge.call('app.list', {}),
    async install(apk, options = {}) {
      if (typeof apk === 'string') return install(apk, options);
      const path = `/sdcard/Download/phalanx-${createUuid()}.apk`;
      await files.write(path, apk);
      try {
        await install(path, options);
      } finally {
        await files.delete(path);
      }
    },
    uninstall: (packageName) => bridge.call('app.uninstall', { packageName }),
    clearData: (packageName) => bridge.call('app.clearData', { packageName }),
    grantPermission: (packageName, permission) => setPermission(packageName, permission, true),
    revokePermission: (packageName, permission) => setPermission(packageName, permission, false),
  };
}
