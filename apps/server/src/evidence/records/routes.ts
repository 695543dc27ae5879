import { recordRoutes } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import type { Clock } from '../../kernel/clock.ts';
import type { Turns } from '../../kernel/limits/turns.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import type { AuditEvent } from '../../http/requests/audit-event.ts';
import { addRoute } from '../../http/requests/route.ts';
import { parseTime } from '../../http/requests/parse-time.ts';
import { beginningOfUuidV7 } from '../../kernel/uuid-v7.ts';
import {
  type AutomationAccess,
  getReviewable,
  listScopes,
  requireReviewer,
  scopesOf,
} from './access-store.ts';
import type { BrowseStore, RecordFilter, Wanted } from './browse/browse-store.ts';
import type { StoredRecord } from './stored-record.ts';
import type { RecordChanges } from './record-changes.ts';
import type { ReadRecord } from './record-view.ts';
import type { RetentionLimits, RetentionStore } from './retention/retention-store.ts';
import type { RecordStore } from './store.ts';

interface RecordRoutesOptions {
  store: RecordStore;
  browser: BrowseStore;
  access: AutomationAccess;
  changes: RecordChanges;
  read: ReadRecord;
  clock: Clock;
  limits: RetentionLimits;
  deleteOne: RetentionStore['deleteOne'];
  /** Users take turns at counting lists. */
  turns: Turns;
}

type ListQuery = Static<typeof recordRoutes.list.query>;

/**
 * `GET /out-of-steps` · `GET /out-of-steps/tags` · `PATCH /out-of-steps/:id/status` · `PATCH /out-of-steps/:id/save` ·
 * `DELETE /records/:id`
 */
export function addRecordRoutes(app: FastifyInstance, options: RecordRoutesOptions): void {
  const { store, browser, access, changes, read, clock, limits, deleteOne, turns } = options;

  addRoute(app, recordRoutes.list, async ({ principal, query }) => {
    const wanted = wantedBy(query);
    const visible = await listScopes(access, principal, query.automation_id);
    const scopes = query.automation_id === undefined ? visible : scopesOf(visible, query.automation_id);
    const browsed = { visible, scopes, wanted, filter: filterOf(query) };
    const page = await turns.run(principal.userId, () => browser.browse(browsed));
    if (page === undefined && wanted.kind === 'this') throw notFound(wanted.id);
    if (page === undefined) return noMatch;
    const { record, total, newer, isMatch } = page;
    return {
      success: true,
      result: await read(record),
      total,
      // A record that the filters exclude has no position among their matches.
      currentPage: isMatch ? newer + 1 : 0,
      currentCursor: record.id,
      hasNext: newer + (isMatch ? 1 : 0) < total,
      hasPrev: newer > 0,
    };
  });

  addRoute(app, recordRoutes.tags, async ({ principal, query }) => {
    const automation = await getReviewable(access, principal, query.automation_id);
    return { success: true, tags: await browser.listTags(automation) };
  });

  addRoute(app, recordRoutes.mark, async ({ principal, params, body, auditEvent }) => {
    const before = await getRecord(store, params.id);
    await requireReviewer(access, principal, before);
    onRecord(auditEvent, before, { status: body.status });
    const result = await store.mark(params.id.toLowerCase(), body.status);
    if (result === undefined) throw notFound(params.id);
    const { status } = result.record;
    if (!result.marked) throw ApiError.of('record_already_marked', { record_id: result.record.id, status });
    changes.changed(result.record);
    return { success: true, message: `Record ${result.record.id} was marked as ${status}.`, status };
  });

  addRoute(app, recordRoutes.save, async ({ principal, params, body, auditEvent }) => {
    const before = await getRecord(store, params.id);
    await requireReviewer(access, principal, before);
    onRecord(auditEvent, before, { saved: body.saved });
    const result = await store.save(params.id.toLowerCase(), body.saved, { limits, nowMs: clock.now() });
    if (result === undefined) throw notFound(params.id);
    changes.changed(result.record);
    changes.deleted(result.deleted);
    const { id } = result.record;
    const message = body.saved
      ? `Record ${id} was saved: it is protected from automatic deletion for 2 months from its creation.`
      : `Record ${id} is no longer saved.`;
    return { success: true, message, saved: body.saved };
  });

  addRoute(app, recordRoutes.delete, async ({ principal, params, auditEvent }) => {
    const before = await getRecord(store, params.id);
    await requireReviewer(access, principal, before);
    onRecord(auditEvent, before, {});
    if ((await deleteOne(before.id)) === undefined) throw notFound(params.id);
    changes.deleted(1);
    return { success: true, message: `Record ${before.id} was deleted.` };
  });
}

const noMatch = {
  success: true,
  result: null,
  total: 0,
  currentPage: 0,
  currentCursor: null,
  hasNext: false,
  hasPrev: false,
};

const notFound = (id: string): ApiError => ApiError.of('record_not_found', { record_id: id });

function onRecord(auditEvent: AuditEvent, record: StoredRecord, details: Record<string, unknown>): void {
  const { id, owner_id, automation_id } = record;
  auditEvent.on({ type: 'record', id, name: null }, [owner_id], { automation_id, ...details });
}

async function getRecord(store: RecordStore, id: string): Promise<StoredRecord> {
  const record = await store.find(id.toLowerCase());
  if (record === undefined) throw notFound(id);
  return record;
}

function wantedBy({ cursor, before_cursor: before, after_cursor: after }: ListQuery): Wanted {
  if ([cursor, before, after].filter((one) => one !== undefined).length > 1) {
    throw ApiError.of('invalid_request', {
      problem: 'Query parameters cursor, before_cursor and after_cursor exclude each other: send one of them',
    });
  }
  if (cursor !== undefined) return { kind: 'this', id: cursor.toLowerCase() };
  if (before !== undefined) return { kind: 'older', id: before.toLowerCase() };
  return after === undefined ? { kind: 'newest' } : { kind: 'newer', id: after.toLowerCase() };
}

/** Returns the filters of a query. Both ends of the time range are exclusive, as in the list of runs. */
function filterOf({ added_after: after, added_before: before, ...query }: ListQuery): RecordFilter {
  return {
    type: query.type,
    status: query.status,
    isPartial: query.partial === undefined ? undefined : query.partial === 'true',
    tag: query.tag,
    deviceId: query.device_id?.toLowerCase(),
    runId: query.run_id?.toLowerCase(),
    fromId:
      after === undefined
        ? undefined
        : beginningOfUuidV7(parseTime(after, 'Query parameter added_after') + 1),
    untilId:
      before === undefined ? undefined : beginningOfUuidV7(parseTime(before, 'Query parameter added_before')),
  };
}
