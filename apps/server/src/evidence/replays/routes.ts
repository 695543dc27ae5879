import { replayRoutes } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { ApiError } from '../../kernel/errors/api-error.ts';
import {
  type SharedProject,
  editors,
  onProject,
  type ProjectAccess,
} from '../../code/projects/project-access.ts';
import { draftOf, type DraftText, packDraft } from './draft.ts';
import { replayView, verdictView } from './replay-view.ts';
import { maxUnended, type ReplayStore, type StoredReplay } from './store.ts';
import type { Clock } from '../../kernel/clock.ts';
import { requireScope } from '../../http/requests/policy.ts';
import { readPage } from '../../http/requests/replies/page.ts';
import type { Principal } from '../../http/requests/principal.ts';
import { addRoute } from '../../http/requests/route.ts';
import type { ReplayedFiles } from './replayed-files.ts';

type StartBody = Static<typeof replayRoutes.start.body>;

interface Options {
  store: ReplayStore;
  access: ProjectAccess;
  /** Finds the files of a commit, by default the saved ones. Throws `commit_not_found`. */
  findFiles: (project: SharedProject, commit: string | undefined) => Promise<ReplayedFiles>;
  /** Returns the tree of the draft. Throws the errors of a write, and `compile_failed`. */
  layDraft: (project: SharedProject, draft: DraftText, userId: string) => Promise<string>;
  /** Finds the group of the project, or the one into which it was merged. */
  findGroup: (project: SharedProject, groupId: string) => Promise<string | undefined>;
  /** Whether the record belongs to the project. */
  hasRecord: (project: SharedProject, recordId: string) => Promise<boolean>;
  /** Requires a host that may replay screens of the project. Throws `no_replay_host`. */
  requireHost: (project: SharedProject) => Promise<void>;
  /** Called with each replay that is created or stopped. */
  onChanged: (replay: StoredReplay) => void;
  clock: Clock;
}

/**
 * `POST /automation/replay/:id` · `GET /automation/replays/:id` · `GET /replays/:id` · `GET /replays/:id/verdicts` ·
 * `POST /replays/:id/stop`
 */
export function addReplayRoutes(app: FastifyInstance, options: Options): void {
  const { store, access, clock } = options;

  /** Finds a replay. A caller who may not review its project gets `replay_not_found`, as if there were none. */
  const get = async (principal: Principal, id: string) => {
    const replay = await store.find(id.toLowerCase());
    const project = replay && (await access.findProject(principal, replay.project_id));
    if (replay === undefined || project === undefined || !editors.includes(project.role))
      throw ApiError.of('replay_not_found', { replay_id: id });
    return { replay, project };
  };

  addRoute(app, replayRoutes.start, async ({ principal, params, body, auditEvent }) => {
    const project = await access.getProject(principal, params.id, editors);
    const { set = 'open', commit, group_id: wanted, files: given, deleted } = body;
    const isDraft = given !== undefined || deleted !== undefined;
    onProject(auditEvent, project, {
      set,
      ...(commit === undefined ? {} : { commit }),
      ...(wanted === undefined ? {} : { group_id: wanted }),
      ...(body.record_id === undefined ? {} : { record_id: body.record_id }),
      ...(isDraft ? { draft: true } : {}),
    });
    if (isDraft) requireScope(principal, 'edit');
    const recordId = recordOf(body);
    await options.requireHost(project);
    const groupId = wanted === undefined ? null : await options.findGroup(project, wanted.toLowerCase());
    if (groupId === undefined) throw ApiError.of('group_not_found', { group_id: wanted ?? '' });
    if (recordId !== null && !(await options.hasRecord(project, recordId)))
      throw ApiError.of('record_not_found', { record_id: recordId });
    const replayed = await options.findFiles(project, commit);
    const of = { project, set, groupId, recordId, madeBy: principal.userId, now: clock.now() };
    const draft = isDraft ? draftOf(replayed.treeId, { files: given, deleted }) : undefined;
    const replay = await store.create({
      ...of,
      treeId:
        draft === undefined ? replayed.treeId : await options.layDraft(project, draft, principal.userId),
      commit: draft === undefined ? replayed.commit : null,
      draft: draft && (await packDraft(draft)),
    });
    if (replay === undefined) throw ApiError.of('too_many_replays', { limit: maxUnended });
    options.onChanged(replay);
    return { success: true, replay: replayView(replay) };
  });

  addRoute(app, replayRoutes.list, async ({ principal, params, query }) => {
    const { id } = await access.getProject(principal, params.id, editors);
    const { items, next_cursor } = await readPage(
      query,
      ({ cursor, limit }) => store.list(id, cursor, limit),
      (row) => row.id,
    );
    return { success: true, replays: items.map(replayView), next_cursor };
  });

  addRoute(app, replayRoutes.get, async ({ principal, params }) => {
    const { replay } = await get(principal, params.id);
    return { success: true, replay: replayView(replay) };
  });

  addRoute(app, replayRoutes.listVerdicts, async ({ principal, params, query }) => {
    const { replay } = await get(principal, params.id);
    const onlyChanged = query.changed === 'true';
    const groupId = query.group_id?.toLowerCase();
    const { items, next_cursor } = await readPage(
      query,
      ({ cursor, limit }) =>
        store.listVerdicts(replay.id, { onlyChanged, groupId, after: readCursor(cursor), limit }),
      (row) => String(row.position),
    );
    return { success: true, verdicts: items.map(verdictView), next_cursor };
  });

  addRoute(app, replayRoutes.stop, async ({ principal, params, auditEvent }) => {
    const { replay, project } = await get(principal, params.id);
    onProject(auditEvent, project, { replay_id: replay.id });
    const stopped = await store.stop(replay.id, clock.now());
    if (stopped === undefined) throw ApiError.of('replay_not_found', { replay_id: params.id });
    options.onChanged(stopped);
    return { success: true, replay: replayView(stopped) };
  });
}

/** Returns the record of a `sequence`, or null when each screen is replayed alone. */
function recordOf(body: StartBody): string | null {
  const { mode = 'screens', record_id: id, group_id: groupId } = body;
  const isRecord = mode === 'sequence';
  if (isRecord !== (id !== undefined))
    throw ApiError.of('invalid_request', {
      problem: 'Field record_id belongs to mode "sequence", which requires it',
    });
  if (isRecord && groupId !== undefined)
    throw ApiError.of('invalid_request', { problem: 'Give either group_id or record_id' });
  return id?.toLowerCase() ?? null;
}

function readCursor(text: string | undefined): number {
  if (text === undefined) return -1;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw ApiError.of('invalid_request', {
    problem: 'Query parameter cursor is not a cursor of this list: start without a cursor',
  });
}
