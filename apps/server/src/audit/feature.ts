import { setImmediate as nextTurn } from 'node:timers/promises';
import { Readable } from 'node:stream';
import { auditRoutes } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { addBackgroundJob } from '../background-job.ts';
import type { Context } from '../context.ts';
import type { HostLink } from '../hosts/host-link.ts';
import { AuditEvent } from '../http/audit-event.ts';
import { createAuditStore, type AuditStore } from './store.ts';
import { firstIdOf, exportAudit, readAudit, type AuditFilter } from './read-audit.ts';
import { pageLimit } from '../http/replies/page.ts';
import { addRawRoute, addRoute } from '../http/route.ts';
import { parseTime } from '../http/time-input.ts';

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

const dayMs = 24 * 60 * 60 * 1000;
/** Anybody can be refused anything, so there is a limit beside their age. */
const keptOfStrangers = 100_000;

/** Deletes what is older than the audit log is kept. */
async function deleteOldEntries(store: AuditStore, nowMs: number, auditDays: number): Promise<void> {
  const limit = firstIdOf(Math.max(0, nowMs - auditDays * dayMs));
  while ((await store.deleteSomeBefore(limit)) > 0) await nextTurn();
  while ((await store.deleteSomeOfStrangers(keptOfStrangers)) > 0) await nextTurn();
}

/** `GET /audit` · `GET /audit/export` */
function addAuditRoutes(app: FastifyInstance, store: AuditStore): void {
  addRoute(app, auditRoutes.list, async ({ principal, query }) => {
    const part = { cursor: query.cursor?.toLowerCase(), limit: pageLimit(query) };
    const { entries, next } = await readAudit(store, principal, { filter: filterOf(query), ...part });
    return { success: true, entries, next_cursor: next };
  });

  addRawRoute(app, auditRoutes.export, async ({ principal, query, raw }, reply) => {
    const filter = filterOf(query);
    void reply.type('application/x-ndjson').header('cache-control', 'no-store');
    if (raw.method === 'HEAD') return reply.send('');
    return reply.send(Readable.from(exportAudit(store, principal, filter)));
  });
}

const timeOf = (input: number | string | undefined, name: string): number | undefined =>
  input === undefined ? undefined : parseTime(input, `Query parameter ${name}`);

const filterOf = (query: Static<typeof auditRoutes.export.query>): AuditFilter => ({
  userId: query.user_id?.toLowerCase(),
  action: query.action,
  outcome: query.outcome,
  subjectId: query.subject_id,
  since: timeOf(query.since, 'since'),
  until: timeOf(query.until, 'until'),
});
