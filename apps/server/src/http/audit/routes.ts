import { Readable } from 'node:stream';
import { auditRoutes } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import type { AuditStore } from './store.ts';
import { pageLimit } from '../requests/replies/page.ts';
import { addRawRoute, addRoute } from '../requests/route.ts';
import { parseTime } from '../requests/parse-time.ts';
import { type AuditFilter, readAudit, exportAudit } from './read-audit.ts';

/** `GET /audit` · `GET /audit/export` */
export function addAuditRoutes(app: FastifyInstance, store: AuditStore): void {
  addRoute(app, auditRoutes.list, async ({ principal, query }) => {
    const part = { cursor: query.cursor, limit: pageLimit(query) };
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
