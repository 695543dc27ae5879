import { Type, type Static } from 'typebox';

import { EpochMs, Id, Uuid } from '../../ids.ts';
import { RecordStatus, RecordType } from '../../runs/records.ts';
import { success, type RouteContract } from '../contract.ts';
import { idPageQuery, pageOf, pageQuery } from '../page.ts';
import { OutOfStepsRecord, RecordScreen } from './records.ts';
import { replayCauses } from './replays.ts';

export const groupStatuses = ['open', 'solved', 'ignored'] as const;
export const GroupStatus = Type.Enum(groupStatuses, { title: 'GroupStatus' });
export type GroupStatus = Static<typeof GroupStatus>;

const nullableTime = Type.Union([EpochMs, Type.Null()]);
const nullableText = (description: string) => Type.Union([Type.String({ description }), Type.Null()]);

/** Reason why a record belongs to its group. */
export const JoinReason = Type.Object(
  {
    by: Type.Enum(['new', 'key', 'likeness', 'id', 'error', 'person'] as const, {
      description:
        '`new`: the record is the first of its group. `key`: its screen has a fingerprint of the group. `likeness`: its screen is similar to a screen of the group. `id`: its screen has a view ID that only this group has. `error`: it crashed with the same error at the same place. `person`: a user merged or split groups',
    }),
    likeness: Type.Optional(Type.Number({ description: 'Similarity of the screens, from 0 to 1' })),
    id: Type.Optional(Type.String({ description: 'View ID, for `id`' })),
  },
  { title: 'JoinReason' },
);
export type JoinReason = Static<typeof JoinReason>;

export const GroupRecord = Type.Object(
  {
    record_id: Uuid,
    run_id: Type.String(),
    type: RecordType,
    status: RecordStatus,
    device_info: OutOfStepsRecord.properties.device_info,
    added: Type.String({ description: 'ISO 8601' }),
    commit: nullableText('Commit that the run executed; null: unknown'),
    outdated: Type.Boolean({
      description: 'Whether its run executed code from before the commit that solved the group',
    }),
    reason: JoinReason,
    screen: RecordScreen,
    app: OutOfStepsRecord.properties.app,
  },
  { title: 'GroupRecord' },
);
export type GroupRecord = Static<typeof GroupRecord>;

/** Uncaught error of a crash. */
export const GroupError = Type.Object(
  {
    name: Type.String({
      description: 'Name of the error, such as `WaitTimeoutError`; without a stack, its error code',
    }),
    message: Type.String({ description: 'First line of the message, truncated to 1,000 characters' }),
    place: nullableText('Line of the code that threw the error, such as `main.ts:20`; null without a stack'),
  },
  { title: 'GroupError' },
);
export type GroupError = Static<typeof GroupError>;

export const RecordGroup = Type.Object(
  {
    id: Uuid,
    automation_id: Type.String(),
    automation_name: Type.String(),
    status: GroupStatus,
    title: Type.String({
      description: 'First words of the screen or, for a crash, of the error. May be empty',
    }),
    error: Type.Union([GroupError, Type.Null()], {
      description: 'Error of the newest record, if that is a crash; else null',
    }),
    package_name: Type.String(),
    next_stage: Type.String(),
    screen_state: Type.String(),
    records: Type.Integer({ description: 'Number of records that are kept; old records are deleted' }),
    phones: Type.Integer({ description: 'Number of devices that these records come from' }),
    first_seen: EpochMs,
    last_seen: EpochMs,
    assignee: Type.Union([Type.Object({ id: Type.String(), name: Type.String() }), Type.Null()]),
    solved_in: nullableText('Commit in which the group was solved; null if none was given'),
    solved_at: nullableTime,
    proved: Type.Union([Type.Enum(['yes', 'no', 'not_replayable'] as const), Type.Null()], {
      description:
        'For a group that was solved in a commit: whether the replay of that commit has recognised and handled all kept screens of the group. `not_replayable`: for some of them, the code stores no screen. null: not replayed',
    }),
    reopened_at: nullableTime,
    reopened_by: nullableText('ID of the record that reopened the group'),
    first_version: nullableText('App version of the first record of the group; null: unknown'),
    sample: Type.Union([GroupRecord, Type.Null()], { description: 'The newest record of the group' }),
  },
  { title: 'RecordGroup' },
);
export type RecordGroup = Static<typeof RecordGroup>;

/** Verdict of the last replay on the screens of a group. */
export const GroupVerdict = Type.Object(
  {
    replay_id: Uuid,
    commit: nullableText('Commit whose code was replayed; null: uncommitted files'),
    cause: Type.Enum(replayCauses),
    ended_at: EpochMs,
    screens: Type.Integer(),
    known: Type.Integer({ description: 'Number of screens that the code recognises' }),
    handled: Type.Integer({ description: 'Number of recognised screens on which the code acts' }),
    not_told: Type.Integer({
      description: 'Number of screens that cannot be replayed, because the code stores no screen',
    }),
  },
  { title: 'GroupVerdict' },
);
export type GroupVerdict = Static<typeof GroupVerdict>;

/** Change of groups that can be undone. */
export const GroupChange = Type.Object(
  {
    kind: Type.Enum(['mark', 'merge', 'split'] as const),
    at: EpochMs,
    user: Type.Object({ id: Type.String(), name: Type.String() }),
  },
  { title: 'GroupChange' },
);
export type GroupChange = Static<typeof GroupChange>;

export const signFragilities = ['opaque_id', 'text', 'one_language', 'one_app_version', 'seen_once'] as const;
export type SignFragility = (typeof signFragilities)[number];

/** File with the fix applied. */
export const FixedFile = Type.Object(
  {
    path: Type.String(),
    content: Type.String({ description: 'Full content of the file with the change' }),
    diff: Type.String({ description: 'The change as a unified diff' }),
    etag: Type.String({ description: '`etag` of the saved file that the change is based on' }),
  },
  { title: 'FixedFile' },
);

/** Sign of the screens of a group, and the code change that adds it. */
export const SignCandidate = Type.Object(
  {
    sign: Type.String({ description: 'The sign as code: an entry of `states`, or the `when` of a dialog' }),
    holds: Type.Integer({
      description: 'Number of kept screens of the group that it matches, which is all of them',
    }),
    elsewhere: Type.Integer({ description: 'Number of other saved screens that it matches, which is 0' }),
    fragile: Type.Array(
      Type.Enum(signFragilities, {
        description:
          'Reasons why the sign may break. `opaque_id`: the ID looks generated. `text`: it depends on a text. `one_language`: the text was seen only on devices in one language. `one_app_version`: all records of the group are of one version of the app. `seen_once`: the group has only one kept screen',
      }),
    ),
    files: Type.Array(FixedFile, {
      description: 'Saved files with the change. Empty if no place for the sign was found',
    }),
    problem: Type.String({ description: 'Why no file is changed; empty if one is' }),
    snippet: Type.String({ description: 'Code to insert by hand' }),
  },
  { title: 'SignCandidate' },
);
export type SignCandidate = Static<typeof SignCandidate>;

export const fixKinds = ['state', 'dialog'] as const;

const params = Type.Object({ id: Id });
const group = Type.Object({ success, group: RecordGroup });
const uuids = (maxItems: number) => Type.Array(Uuid, { minItems: 1, maxItems, uniqueItems: true });

/** Groups of records: records of the same screen, or crashes with one error at one place. */
export const groupRoutes = {
  list: {
    method: 'GET',
    path: '/api/v2/groups',
    operationId: 'listGroups',
    tag: 'Records',
    summary: 'List the groups: records that show the same screen, or crashed with the same error',
    description:
      'Each record except `debug` records belongs to a group, soon after its tree was uploaded: by its last screen or, for a crash, by its error (ignoring numbers) and the function that threw it. Visible to the owner and the shared editors of the automation. Ordered by last occurrence or by number of records, as `sort` says, highest first.',
    scope: 'read',
    reach: { projects: 'within', phones: 'refused' },
    query: Type.Object({
      ...pageQuery,
      automation_id: Type.Optional(Id),
      status: Type.Optional(GroupStatus),
      assignee_id: Type.Optional(Id),
      sort: Type.Optional(
        Type.Enum(['last_seen', 'records'], {
          description: 'Sort order, highest first. Default `last_seen`',
        }),
      ),
    }),
    responses: { 200: pageOf({ groups: Type.Array(RecordGroup) }) },
  },
  get: {
    method: 'GET',
    path: '/api/v2/groups/:id',
    operationId: 'getGroup',
    tag: 'Records',
    summary: 'Read one group, with the newest screen of each of up to eight devices',
    description: 'The ID of a group that was merged into another group returns that group.',
    scope: 'read',
    reach: { projects: 'within', phones: 'refused' },
    params,
    responses: {
      200: Type.Object({
        success,
        group: RecordGroup,
        screens: Type.Array(GroupRecord, { description: 'Newest record of each device' }),
        app_versions: Type.Array(
          Type.Object({ version: nullableText('App version; null: unknown'), records: Type.Integer() }),
          { description: 'App versions of its newest 5,000 records, most frequent first' },
        ),
        languages: Type.Array(
          Type.Object({
            language: nullableText('BCP 47 language tag; null: unknown'),
            records: Type.Integer(),
          }),
          { description: 'Device languages of the same records, most frequent first' },
        ),
        newest_verdict: Type.Union([GroupVerdict, Type.Null()]),
        kept_screens: Type.Array(Type.String(), {
          description: 'Names of the screens that are kept for replays',
        }),
        last_change: Type.Union([GroupChange, Type.Null()], {
          description: 'The change that `undo` would undo; null: none',
        }),
      }),
    },
    errors: ['group_not_found'],
  },
  listRecords: {
    method: 'GET',
    path: '/api/v2/groups/:id/records',
    operationId: 'listGroupRecords',
    tag: 'Records',
    summary: 'List the records of a group, newest first, each with the reason why it belongs to the group',
    scope: 'read',
    reach: { projects: 'within', phones: 'refused' },
    params,
    query: Type.Object(idPageQuery),
    responses: { 200: pageOf({ records: Type.Array(GroupRecord) }) },
    errors: ['group_not_found'],
  },
  ofRecord: {
    method: 'GET',
    path: '/api/v2/automation-project/out-of-steps/:id/group',
    operationId: 'groupOfRecord',
    tag: 'Records',
    summary: 'Read the group of a record, or why it has none',
    scope: 'read',
    reach: { projects: 'within', phones: 'refused' },
    params,
    responses: {
      200: Type.Object({
        success,
        group_id: Type.Union([Uuid, Type.Null()]),
        reason: Type.Union([JoinReason, Type.Null()]),
        problem: Type.String({ description: 'Why the record has no group; empty if it has one' }),
      }),
    },
    errors: ['record_not_found'],
  },
  change: {
    method: 'PATCH',
    path: '/api/v2/groups/:id',
    operationId: 'changeGroup',
    tag: 'Records',
    summary: 'Solve, ignore, reopen or assign a group',
    description:
      'Also marks the pending records of the group: as solved for `solved`, as skipped for `ignored`; `"mark_records": false` leaves them pending. A solved group is reopened by the first record of a run that began later. With `solved_in`, it is reopened by the first record of a run whose commit contains that commit; records of older commits are `outdated`.',
    scope: 'review',
    reach: { projects: 'within', phones: 'refused' },
    audit: 'change_group',
    params,
    body: Type.Object({
      status: Type.Optional(GroupStatus),
      assignee_id: Type.Optional(
        Type.Union([Id, Type.Null()], { description: 'ID of the owner or of a shared editor; null: nobody' }),
      ),
      solved_in: Type.Optional(
        Type.String({
          pattern: '^[0-9a-fA-F]{7,40}$',
          description: 'Hash of a commit of the project, with `"status": "solved"`',
        }),
      ),
      mark_records: Type.Optional(Type.Boolean()),
    }),
    bodyExample: { status: 'solved' },
    responses: { 200: group },
    errors: ['group_not_found', 'commit_not_found'],
  },
  merge: {
    method: 'POST',
    path: '/api/v2/groups/:id/merge',
    operationId: 'mergeGroups',
    tag: 'Records',
    summary: 'Merge other groups of the same automation into this one',
    description: 'Later records of their screens join this group as well.',
    scope: 'review',
    reach: { projects: 'within', phones: 'refused' },
    audit: 'merge_groups',
    params,
    body: Type.Object({ group_ids: uuids(20) }),
    responses: { 200: group },
    errors: ['group_not_found'],
  },
  split: {
    method: 'POST',
    path: '/api/v2/groups/:id/split',
    operationId: 'splitGroup',
    tag: 'Records',
    summary: 'Move records of a group to a new group',
    description:
      'Later records join the new group if their screens have the fingerprints of these records, or are more similar to them. A fingerprint that is shared by records of both groups stays with the old group.',
    scope: 'review',
    reach: { projects: 'within', phones: 'refused' },
    audit: 'split_group',
    params,
    body: Type.Object({ record_ids: uuids(1000) }),
    responses: { 201: group },
    errors: ['group_not_found', 'record_not_found'],
  },
  propose: {
    method: 'POST',
    path: '/api/v2/groups/:id/propose',
    operationId: 'proposeFix',
    tag: 'Records',
    summary: 'Propose signs that recognise the screens of a group, with the code change for each',
    description:
      'Returns up to five signs, the most stable first. Each matches all kept screens of the group and no other saved screen of the automation: kept screens of other groups, golden screens of the saved files, and screens of records that were recognised. Each change is based on the saved files and compiles; nothing is saved. The token also needs the scope `review`.',
    scope: 'edit',
    reach: { projects: 'within', phones: 'refused' },
    audit: null,
    params,
    body: Type.Object({
      state: Type.Optional(
        Type.String({
          pattern: '^[A-Za-z_][A-Za-z0-9_]{0,59}$',
          description: 'Name of the state in the code. Default: a name made from the title of the group',
        }),
      ),
      kind: Type.Optional(
        Type.Enum(fixKinds, {
          description:
            'Kind of the change. `state` (default): a new state of the screen. `dialog`: an entry of `dialogs` of `runStages`, which presses a button',
        }),
      ),
    }),
    bodyExample: { kind: 'state' },
    responses: {
      200: Type.Object({
        success,
        state: Type.String(),
        kind: Type.Enum(fixKinds),
        screens: Type.Integer({ description: 'Number of kept screens of the group' }),
        others: Type.Integer({ description: 'Number of other saved screens that were compared' }),
        candidates: Type.Array(SignCandidate),
        problem: Type.String({ description: 'Why there is no candidate; empty if there is one' }),
      }),
    },
    errors: ['group_not_found', 'compiler_unavailable'],
  },
  undo: {
    method: 'POST',
    path: '/api/v2/groups/:id/undo',
    operationId: 'undoGroupChange',
    tag: 'Records',
    summary: 'Undo the last mark, merge or split of a group',
    description:
      'Undoing a mark makes the records that it marked pending again. Refused if another group of the merge or split has been changed since.',
    scope: 'review',
    reach: { projects: 'within', phones: 'refused' },
    audit: 'undo_group',
    params,
    responses: { 200: group },
    errors: ['group_not_found', 'nothing_to_undo'],
  },
  deleteScreen: {
    method: 'DELETE',
    path: '/api/v2/groups/:id/screens/:name',
    operationId: 'deleteGroupScreen',
    tag: 'Records',
    summary: 'Delete the kept copy of a screen of a group, so that replays no longer use it',
    description:
      'The name of the screen is in `kept_screens` of the group and in the verdicts of replays. Records that show the screen are kept; delete them separately.',
    scope: 'review',
    reach: { projects: 'within', phones: 'refused' },
    audit: 'delete_group_screen',
    params: Type.Object({ id: Id, name: Type.String({ pattern: '^[0-9A-Za-z_-]{1,100}$' }) }),
    responses: { 200: Type.Object({ success }) },
    errors: ['group_not_found', 'group_screen_not_found'],
  },
} as const satisfies Record<string, RouteContract>;
