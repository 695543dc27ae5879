import type { HostLink } from './hosts/host-link.ts';
import { deleteOldEntries } from './audit/retention.ts';
import { addAuditRoutes } from './audit/routes.ts';
import type { AuditStore } from './audit/store.ts';
import { byOneServer } from './db/locks.ts';
import type { Foundation } from './foundation.ts';
import { Deed } from './http/deed.ts';
import { periodically } from './periodically.ts';

const hourMs = 60 * 60 * 1000;
/** How long refusals of one kind are counted before their number is noted. */
const countingMs = 5 * 60 * 1000;

function noteHost({ audit }: Foundation, action: 'connect_host' | 'disconnect_host', link: HostLink): void {
  const deed = new Deed(action, { principal: link.principal, address: link.address, requestId: null });
  deed.on({ type: 'host', id: link.hostId, name: link.hostName }, []);
  audit.happened(deed);
}

/** Reading the audit log, its retention, and what hosts do. */
export function openAuditFeatures(foundation: Foundation, store: AuditStore, auditDays: number): void {
  const { app, database, audit, hosts, clock, faults } = foundation;
  addAuditRoutes(app, store);
  hosts.on('hello', (link) => noteHost(foundation, 'connect_host', link));
  hosts.on('closed', (link) => noteHost(foundation, 'disconnect_host', link));
  const deleteOld = byOneServer(database, 'delete old audit entries', () =>
    deleteOldEntries(store, clock.now(), auditDays),
  );
  const deletedAtStart = deleteOld().catch((error: unknown) => {
    faults.report(error, 'old entries of the audit log could not be deleted');
  });
  app.addHook('onClose', () => deletedAtStart);
  app.addHook('onClose', periodically(faults, hourMs, deleteOld));
  app.addHook(
    'onClose',
    periodically(faults, countingMs, () => audit.flush()),
  );
}
