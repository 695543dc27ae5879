import { addBackgroundJob } from '../background-job.ts';
import type { Context } from '../context.ts';
import type { HostLink } from '../hosts/host-link.ts';
import { AuditEvent } from '../http/audit-event.ts';
import { deleteOldEntries } from './retention.ts';
import { addAuditRoutes } from './routes.ts';
import { createAuditStore } from './store.ts';

const hourMs = 60 * 60 * 1000;
/** How long refusals of one kind are counted before their number is noted. */
const countingMs = 5 * 60 * 1000;

/** Reading the audit log, its retention, and the connections of hosts. */
export function serveAudit(context: Context): void {
  const { app, config, database, audit, hosts, clock } = context;
  const store = createAuditStore(database);
  addAuditRoutes(app, store);
  hosts.on('hello', (link) => noteHost(context, 'connect_host', link));
  hosts.on('closed', (link) => noteHost(context, 'disconnect_host', link));
  addBackgroundJob(context, {
    name: 'delete old audit events',
    everyMs: hourMs,
    atStart: true,
    work: () => deleteOldEntries(store, clock.now(), config.auditDays),
  });
  addBackgroundJob(context, {
    name: 'store counted refusals',
    everyMs: countingMs,
    onEachServer: true,
    work: () => audit.flush(),
  });
}

function noteHost({ audit }: Context, action: 'connect_host' | 'disconnect_host', link: HostLink): void {
  const { principal, address } = link;
  const auditEvent = new AuditEvent(action, { principal, address, requestId: null });
  auditEvent.on({ type: 'host', id: link.hostId, name: link.hostName }, []);
  audit.happened(auditEvent);
}
