import { posix } from 'node:path';
import type { AgentCallName } from '@phalanx/protocol';

import { isSharedStorage } from '../driver/shell/shared-storage.ts';

/** Permissions of user code on phones beyond normal use, granted by the operator. */
export interface RunPermissions {
  /** Installing and uninstalling apps, clearing their data, and changing their permissions. */
  readonly changeApps: boolean;
  /** Running commands in the phone's shell, and accessing files outside its shared storage. */
  readonly shell: boolean;
  /** Reading the text messages of the phone. */
  readonly messages: boolean;
}

const appChanges: ReadonlySet<AgentCallName> = new Set<AgentCallName>([
  'app.install',
  'app.uninstall',
  'app.clearData',
  'app.setPermission',
]);

/** Throws `NotAllowed` when the operator has not granted the permission. Normalizes paths. */
export function requirePermission<Params extends object>(
  name: AgentCallName,
  params: Params,
  permissions: RunPermissions,
): Params {
  if (appChanges.has(name) && !permissions.changeApps)
    throw new NotAllowed(`${name} changes apps`, 'PHALANX_ALLOW_APP_CHANGES');
  if (name === 'phone.shell' && !permissions.shell)
    throw new NotAllowed('A command in the shell of the phone', 'PHALANX_ALLOW_SHELL');
  if (name === 'message.list' && !permissions.messages)
    throw new NotAllowed('Reading text messages', 'PHALANX_ALLOW_SMS');
  if (!('path' in params) || typeof params.path !== 'string') return params;
  const path = posix.normalize(params.path);
  if (!permissions.shell && !isSharedStorage(path))
    throw new NotAllowed(`${path} is not in the shared storage (/sdcard), which`, 'PHALANX_ALLOW_SHELL');
  return { ...params, path };
}

class NotAllowed extends Error {
  override readonly name = 'NotAllowed';
  readonly code = 'not_allowed';

  constructor(what: string, setting: string) {
    super(`${what} needs ${setting}=true, which the operator of this host has not set.`);
  }
}
