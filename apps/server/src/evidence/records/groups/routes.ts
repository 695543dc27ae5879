import { groupRoutes, type GroupStatus, type GroupVerdict } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import type { Clock } from '../../../kernel/clock.ts';
import { ApiError } from '../../../kernel/errors/api-error.ts';
import type { AuditEvent } from '../../../http/requests/audit-event.ts';
import { readPage } from '../../../http/requests/replies/page.ts';
import type { Principal } from '../../../http/requests/principal.ts';
import { addRoute } from '../../../http/requests/route.ts';
import { type AutomationAccess, isReviewerOf, listScopes, scopesOf } from '../access-store.ts';
import type { RecordStore } from '../store.ts';
import type { StoredRecord } from '../stored-record.ts';
import type { Changed, GroupChangeStore, Marking } from './change-store.ts';
import type { CommitHistory } from './solving.ts';
import type { GroupChanges } from './group-changes.ts';
import { type GroupViews, readReason } from './group-view.ts';
import type { StoredGroup } from './membership-store.ts';
import type { GroupCursor, GroupStore } from './store.ts';

interface GroupRoutesOptions {
  records: RecordStore;
  store: GroupStore;
  changeStore: GroupChangeStore;
  access: AutomationAccess;
  history: CommitHistory;
  views: GroupViews;
  changes: GroupChanges;
  /** Resolves when the records of a move are marked, or when an attempt has failed. */
  finish: (moveId: string) => Promise<void>;
  findVerdict: (groupId: string) => Promise<GroupVerdict | null>;
  listScreens: (groupId: string) => Promise<string[]>;
  /** Deletes a kept screen. Returns false when the group keeps no screen of this name. */
  deleteScreen: (groupId: string, name: string) => Promise<boolean>;
  clock: Clock;
}

const maxPhones = 8;

/**
 * `GET /groups` · `GET, PATCH /groups/:id` · `GET /groups/:id/records` · `POST /groups/:id/merge, split, undo` ·
 * `DELETE /groups/:id/screens/:name` · `GET /out-of-steps/:id/group`
 */
export function addGroupRoutes(app: FastifyInstance, options: GroupRoutesOptions): void {
  const { records, store, changeStore, access, history, views, changes, clock } = options;

  /** Finds a group. A caller who may not review its records gets `group_not_found`, as if there were none. */
  const get = async (principal: Principal, id: string): Promise<StoredGroup> => {
    const group = await store.find(id.toLowerCase());
    if (group === undefined || !(await isReviewerOf(access, principal, group))) throw notFound(id);
    return group;
  };

  const makerOf = ({ userId }: Principal) => ({ userId, now: clock.now() });

  const done = async (id: string, { groups, move }: Changed) => {
    if (move !== null) await options.finish(move);
    for (const group of groups) changes.changed(group);
    const group = groups.find((one) => one.id === id);
    if (group === undefined) throw notFound(id);
    return { success: true, group: await views.one(group) };
  };

  addRoute(app, groupRoutes.list, async ({ principal, query }) => {
    const { automation_id: automationId, status, assignee_id: assigneeId, sort = 'last_seen' } = query;
    const visible = await listScopes(access, principal, automationId);
    const scopes = automationId === undefined ? visible : scopesOf(visible, automationId);
    const { items, next_cursor } = await readPage(
      query,
      ({ cursor, limit }) =>
        store.list({ scopes, status, assigneeId, sort, cursor: readCursor(cursor), limit }),
      (row) => `${row[sort]}.${row.id}`,
    );
    return { success: true, groups: await views.all(items), next_cursor };
  });

  addRoute(app, groupRoutes.get, async ({ principal, params }) => {
    const group = await get(principal, params.id);
    const screens = await store.listPhones(group.id, maxPhones);
    const move = await changeStore.findMove(group.last_move);
    const user = move && { id: move.made_by, name: await store.findUserName(move.made_by) };
    return {
      success: true,
      group: await views.one(group),
      screens: screens.map((shown) => views.record(shown)),
      app_versions: await store.countVersions(group.id),
      languages: await store.countLanguages(group.id),
      newest_verdict: await options.findVerdict(group.id),
      kept_screens: await options.listScreens(group.id),
      last_change:
        move === undefined || user === undefined ? null : { kind: move.kind, at: move.made_at, user },
    };
  });

  addRoute(app, groupRoutes.listRecords, async ({ principal, params, query }) => {
    const { id } = await get(principal, params.id);
    const { items, next_cursor } = await readPage(
      query,
      ({ cursor, limit }) => store.listMembers(id, cursor, limit),
      ({ member }) => member.record_id,
    );
    return { success: true, records: items.map((shown) => views.record(shown)), next_cursor };
  });

  addRoute(app, groupRoutes.ofRecord, async ({ principal, params }) => {
    const record = await records.find(params.id.toLowerCase());
    if (record === undefined || !(await isReviewerOf(access, principal, record)))
      throw ApiError.of('record_not_found', { record_id: params.id });
    const member = await store.findMember(record.id);
    const isGrouped = member?.group_id !== undefined && member.group_id !== null;
    return {
      success: true,
      group_id: member?.group_id ?? null,
      reason: isGrouped ? readReason(member.reason) : null,
      problem: isGrouped ? '' : (member?.problem ?? (await problemOf(record))),
    };
  });

  const problemOf = async (record: StoredRecord): Promise<string> => {
    if (record.retention_group !== '') return 'Debug records have no groups.';
    if (await store.isWaiting(record.id)) return 'The tree of its last screen has not been read yet.';
    return 'It has no tree of a screen.';
  };

  addRoute(app, groupRoutes.change, async ({ principal, params, body, auditEvent }) => {
    const group = await get(principal, params.id);
    onGroup(auditEvent, group, { ...body });
    const { assignee_id: assigneeId, status } = body;
    if (typeof assigneeId === 'string') await requireAssignee(access, group, assigneeId);
    const marking: Marking = {
      ...(status === undefined
        ? {}
        : { status, markedAs: body.mark_records === false ? null : marks[status] }),
      ...(assigneeId === undefined ? {} : { assigneeId }),
      ...(body.solved_in === undefined ? {} : { solvedCommit: await findCommit(history, group, body) }),
    };
    const changed = await changeStore.mark(group.id, marking, makerOf(principal));
    if (changed === undefined) throw notFound(params.id);
    return done(group.id, changed);
  });

  addRoute(app, groupRoutes.merge, async ({ principal, params, body, auditEvent }) => {
    const group = await get(principal, params.id);
    const others = new Map<string, StoredGroup>();
    for (const id of body.group_ids) {
      const other = await get(principal, id);
      requireOther(group, other);
      others.set(other.id, other);
    }
    const ids = [...others.keys()];
    onGroup(auditEvent, group, { group_ids: ids });
    const changed = await changeStore.merge(group.id, ids, makerOf(principal));
    if (changed === undefined) throw notFound(ids.join(', '));
    return done(group.id, changed);
  });

  addRoute(app, groupRoutes.split, async ({ principal, params, body, auditEvent }) => {
    const group = await get(principal, params.id);
    const ids = [...new Set(body.record_ids.map((id) => id.toLowerCase()))];
    onGroup(auditEvent, group, { record_ids: ids.length });
    const changed = await changeStore.split(group.id, ids, makerOf(principal));
    if (changed === undefined)
      throw ApiError.of('invalid_request', {
        problem: 'Field record_ids must name some of the records of the group, and not all of them',
      });
    const created = changed.groups.find(({ id }) => id !== group.id);
    auditEvent.add({ created: created?.id });
    return done(created?.id ?? '', changed);
  });

  addRoute(app, groupRoutes.undo, async ({ principal, params, auditEvent }) => {
    const group = await get(principal, params.id);
    onGroup(auditEvent, group, {});
    const changed = await changeStore.undo(group.id);
    if (changed === undefined) throw notFound(params.id);
    if (typeof changed === 'string')
      throw ApiError.of('nothing_to_undo', { group_id: group.id, reason: changed });
    // The undo of a split removes the group that the split created.
    const living = changed.groups.filter(({ merged_into: into }) => into === null);
    const { id } = living.find((one) => one.id === group.id) ?? living[0] ?? group;
    return done(id, changed);
  });

  addRoute(app, groupRoutes.deleteScreen, async ({ principal, params: { id, name }, auditEvent }) => {
    const group = await get(principal, id);
    onGroup(auditEvent, group, { screen: name });
    if (await options.deleteScreen(group.id, name)) return { success: true };
    throw ApiError.of('group_screen_not_found', { group_id: group.id, screen: name });
  });
}

/** Statuses that the specification assigns to the records of a group, by the status of the group. */
const marks: Record<GroupStatus, Marking['markedAs'] & (string | null)> = {
  open: null,
  solved: 'solved',
  ignored: 'skipped',
};

const notFound = (id: string): ApiError => ApiError.of('group_not_found', { group_id: id });
const invalid = (problem: string): ApiError => ApiError.of('invalid_request', { problem });

function onGroup(auditEvent: AuditEvent, group: StoredGroup, details: Record<string, unknown>): void {
  const { id, owner_id: ownerId, automation_id } = group;
  auditEvent.on({ type: 'group', id, name: null }, [ownerId], { automation_id, ...details });
}

function readCursor(text: string | undefined): GroupCursor | undefined {
  if (text === undefined) return undefined;
  const [, value, id] = /^(\d{1,15})\.([0-9a-f-]{36})$/.exec(text) ?? [];
  if (value === undefined || id === undefined)
    throw invalid('Query parameter cursor is not a cursor of this list: start without a cursor');
  return { value: Number(value), id };
}

async function requireAssignee(access: AutomationAccess, group: StoredGroup, userId: string): Promise<void> {
  const automation = { ownerId: group.owner_id, automationId: group.automation_id };
  if ((await access.listReviewers(automation)).includes(userId)) return;
  throw invalid('Field assignee_id must name the owner or a shared editor of the automation');
}

function requireOther(group: StoredGroup, other: StoredGroup): void {
  if (other.id === group.id) throw invalid('Field group_ids must name other groups');
  if (other.owner_id !== group.owner_id || other.automation_id !== group.automation_id)
    throw invalid('Only groups of one automation can be merged');
}

async function findCommit(
  history: CommitHistory,
  { project_id: projectId, owner_id: ownerId }: StoredGroup,
  { solved_in: hash = '', status }: Static<typeof groupRoutes.change.body>,
): Promise<string> {
  if (status !== 'solved') throw invalid('Field solved_in needs "status": "solved"');
  if (projectId === null) throw invalid('Field solved_in needs a project: direct code has no commits');
  const commit = await history.find({ projectId, ownerId, hash: hash.toLowerCase() });
  if (commit === undefined) throw ApiError.of('commit_not_found', { hash, project_id: projectId });
  return commit;
}
