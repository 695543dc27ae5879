import type { AuditAction } from '@phalanx/protocol';

import type { DeedLog } from '../http/deed.ts';
import type { SharedChanges } from './shared-changes.ts';

/** What changes something that the other servers know by heart. */
const told: ReadonlySet<AuditAction> = new Set([
  ...(['share_project', 'unshare_project', 'delete_project'] as const),
  ...(['share_device', 'unshare_device', 'share_host', 'unshare_host', 'forget_device'] as const),
  ...(['lease_device', 'end_lease', 'delete_token', 'sign_out'] as const),
  ...(['create_user', 'update_user', 'delete_user'] as const),
]);

/** With several servers, a caller who is told that something is done may ask any of them next. */
export const toldDeeds = (deeds: DeedLog, changes: Pick<SharedChanges, 'tellOthers'>): DeedLog => ({
  async done(deed) {
    await deeds.done(deed);
    if (told.has(deed.action)) await changes.tellOthers();
  },
  happened: (deed) => deeds.happened(deed),
  failed: (deed, error) => deeds.failed(deed, error),
});
