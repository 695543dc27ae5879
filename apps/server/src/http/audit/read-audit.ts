import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AuditAction, AuditEntry, AuditOutcome } from '@phalanx/protocol';
import type { AuditStore, EntryRange, StoredEntry } from './store.ts';
import { seesEveryone } from '../requests/policy.ts';
import type { Principal } from '../requests/principal.ts';
import { toPage } from '../requests/replies/page.ts';
import { timeOfUuidV7 } from '../../kernel/uuid-v7.ts';

export interface AuditFilter {
  readonly userId: string | undefined;
  readonly action: AuditAction | undefined;
  readonly outcome: AuditOutcome | undefined;
  readonly subjectId: string | undefined;
  /** Range of times, epoch ms: from `since`, inclusive, to `until`, exclusive. */
  readonly since: number | undefined;
  readonly until: number | undefined;
}

interface AuditPage {
  entries: AuditEntry[];
  /** Cursor of the next page; null on the last page. */
  next: string | null;
}

/** Maximum number of entries examined for one page if the index alone does not select them. */
const maxLookedAt = 2000;
const exportStep = 250;
const maxTime = 2 ** 48 - 1;
const lastId = 'ffffffff-ffff-7fff-bfff-ffffffffffff';

/** Returns a text that is less than or equal to all IDs of this millisecond. */
export function firstIdOf(time: number): string {
  const hex = Math.min(time, maxTime).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}

/** Chooses the index that leads to the fewest entries. */
function rangeOf(principal: Principal, filter: AuditFilter): Partial<EntryRange> {
  if (!seesEveryone(principal)) return { readerId: principal.userId };
  const { subjectId, userId, action } = filter;
  if (subjectId !== undefined) return { subjectId };
  if (userId !== undefined) return { userId };
  return action === undefined ? {} : { action };
}

const allows = (wanted: string | undefined, found: string | null): boolean =>
  wanted === undefined || wanted === found;

const fits = (entry: StoredEntry, filter: AuditFilter, { projectIds }: Principal): boolean =>
  allows(filter.userId, entry.user_id) &&
  allows(filter.action, entry.action) &&
  allows(filter.outcome, entry.outcome) &&
  allows(filter.subjectId, entry.subject_id) &&
  (projectIds === null || (entry.subject_type === 'project' && projectIds.has(entry.subject_id ?? '')));

/** Returns how many entries must be examined for a page, all of which may fit. */
function reachOf(principal: Principal, filter: AuditFilter, limit: number): number {
  const { userId, action, outcome, subjectId } = filter;
  const wanted = [userId, action, outcome, subjectId].filter((value) => value !== undefined);
  const byIndex = seesEveryone(principal) ? Object.keys(rangeOf(principal, filter)).length : 0;
  return wanted.length === byIndex && principal.projectIds === null ? limit + 1 : maxLookedAt;
}

/** Reads the newest entries first. The page is short when few of the entries that were looked at fit. */
export async function readAudit(
  store: AuditStore,
  principal: Principal,
  { filter, cursor, limit }: { filter: AuditFilter; cursor: string | undefined; limit: number },
): Promise<AuditPage> {
  const until = filter.until === undefined ? lastId : firstIdOf(filter.until);
  const reach = reachOf(principal, filter, limit);
  const rows = await store.list({
    ...rangeOf(principal, filter),
    from: firstIdOf(filter.since ?? 0),
    before: cursor !== undefined && cursor < until ? cursor : until,
    limit: reach,
  });
  const found = rows.filter((row) => fits(row, filter, principal));
  const { items, next_cursor } = toPage(found, limit, ({ id }) => id);
  const lookedAt = rows.length === reach ? rows.at(-1) : undefined;
  return { entries: items.map(entryView), next: next_cursor ?? lookedAt?.id ?? null };
}

/** Reads all entries that fit as JSON lines, and yields to other work in between. */
export async function* exportAudit(
  store: AuditStore,
  principal: Principal,
  filter: AuditFilter,
): AsyncGenerator<string> {
  let cursor: string | undefined;
  do {
    const { entries, next } = await readAudit(store, principal, { filter, cursor, limit: exportStep });
    if (entries.length > 0) yield `${entries.map((entry) => JSON.stringify(entry)).join('\n')}\n`;
    await nextTurn();
    cursor = next ?? undefined;
  } while (cursor !== undefined);
}

const named = (id: string | null, name: string | null) => (id === null ? null : { id, name: name ?? '' });

function entryView(row: StoredEntry): AuditEntry {
  const { id, action, outcome, code, address, count, request_id, subject_type: type } = row;
  return {
    id,
    at: timeOfUuidV7(id),
    action,
    outcome,
    code,
    user: named(row.user_id, row.user_name),
    token: named(row.token_id, row.token_name),
    address,
    subject: type === null ? null : { type, id: row.subject_id ?? '', name: row.subject_name },
    // The column is written by the audit log alone.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    details: JSON.parse(row.details) as AuditEntry['details'],
    count,
    request_id,
  };
}
