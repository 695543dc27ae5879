import type { AuditAction } from '@phalanx/protocol';
import type { AuditEventSink } from '../requests/audit-event.ts';
import type { CacheInvalidations } from '../../storage/nodes/cache-invalidations.ts';

/** Actions that change something that the other servers cache. */
const invalidating: ReadonlySet<AuditAction> = new Set([
  ...(['share_project', 'unshare_project', 'delete_project'] as const),
  ...(['share_device', 'unshare_device', 'share_host', 'unshare_host', 'forget_device'] as const),
  ...(['rename_device', 'label_device', 'label_host', 'save_pool', 'delete_pool'] as const),
  ...(['create_job', 'cancel_job', 'resume_job'] as const),
  ...(['create_schedule', 'change_schedule'] as const),
  ...(['lease_device', 'end_lease', 'delete_token', 'sign_out'] as const),
  ...(['create_user', 'update_user', 'delete_user'] as const),
]);

/** Tells the other servers first: a caller who is told that something is done may ask any of them next. */
export const invalidatingAuditEvents = (
  auditEvents: AuditEventSink,
  invalidations: Pick<CacheInvalidations, 'tellPeers'>,
): AuditEventSink => ({
  async tell(auditEvent) {
    if (invalidating.has(auditEvent.action)) await invalidations.tellPeers();
  },
  noteOf: (auditEvent) => auditEvents.noteOf(auditEvent),
  done: (auditEvent) => auditEvents.done(auditEvent),
  happened: (auditEvent) => auditEvents.happened(auditEvent),
  failed: (auditEvent, error) => auditEvents.failed(auditEvent, error),
});
