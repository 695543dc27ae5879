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

/** Why a record belongs to its group. */
export const JoinReason = Type.Object(
  {
    by: Type.Enum(['new', 'key', 'likeness', 'id', 'error', 'person'] as const, {
      description:
        '`new`: the group began with it. `key`: its screen has a known print. `likeness`: it is like a screen of the group. `id`: it has an ID that no other group has. `error`: it crashed with the same error at the same place. `person`: somebody merged or split groups',
    }),
    likeness: Type.Optional(Type.Number({ description: 'From 0 to 1' })),
    id: Type.Optional(Type.String({ description: 'The ID of the view' })),
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
    commit: nullableText('Of the run; null when it is not known'),
    outdated: Type.Boolean({
      description: 'Whether its run had older code than the one that solved the group',
    }),
    reason: JoinReason,
    screen: RecordScreen,
    app: OutOfStepsRecord.properties.app,
  },
  { title: 'GroupRecord' },
);
export type GroupRecord = Static<typeof GroupRecord>;

/** The error of a crash that the code did not catch. */
export const GroupError = Type.Object(
  {
    name: Type.String({ description: 'Such as `WaitTimeoutError`; without a stack the code of the error' }),
    message: Type.String({ description: 'Its first line, at most 1,000 letters' }),
    place: nullableText(
      'The line of the code where it came up, such as `main.ts:20`; null when no stack tells',
    ),
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
      description: 'The first words of the screen; of crashes, of the error. May be empty',
    }),
    error: Type.Union([GroupError, Type.Null()], {
      description: 'When its newest record is a crash: the error of that',
    }),
    package_name: Type.String(),
    next_stage: Type.String(),
    screen_state: Type.String(),
    records: Type.Integer({ description: 'That are there now: old ones are deleted' }),
    phones: Type.Integer({ description: 'That these records are of' }),
    first_seen: EpochMs,
    last_seen: EpochMs,
    assignee: Type.Union([Type.Object({ id: Type.String(), name: Type.String() }), Type.Null()]),
    solved_in: nullableText('The commit that was named when the group was solved'),
    solved_at: nullableTime,
    proved: Type.Union([Type.Enum(['yes', 'no', 'not_replayable'] as const), Type.Null()], {
      description:
        'Of a group that is solved in a commit: whether the code of that commit recognises and handles all of its kept screens, as the replay of the commit says. `not_replayable`: the code says nothing of some of them. null: no replay says',
    }),
    reopened_at: nullableTime,
    reopened_by: nullableText('The record that has reopened it'),
    first_version: nullableText('Of the app, of the record that it began with'),
    sample: Type.Union([GroupRecord, Type.Null()], { description: 'Its newest record' }),
  },
  { title: 'RecordGroup' },
);
export type RecordGroup = Static<typeof RecordGroup>;

/** Verdict of the last replay on the screens of a group. */
export const GroupVerdict = Type.Object(
  {
    replay_id: Uuid,
    commit: nullableText('Whose code it was; null: files that no commit has'),
    cause: Type.Enum(replayCauses),
    ended_at: EpochMs,
    screens: Type.Integer(),
    known: Type.Integer({ description: 'That the code recognises' }),
    handled: Type.Integer({ description: 'Of these: on which it acts, too' }),
    not_told: Type.Integer({ description: 'Of which the code says nothing, so they can’t be replayed' }),
  },
  { title: 'GroupVerdict' },
);
export type GroupVerdict = Static<typeof GroupVerdict>;

/** A change of groups that can be undone. */
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

/** A file as the fix leaves it. */
export const FixedFile = Type.Object(
  {
    path: Type.String(),
    content: Type.String({ description: 'The whole file with the change' }),
    diff: Type.String({ description: 'What changes, as a unified diff' }),
    etag: Type.String({ description: 'Of the saved file that was changed' }),
  },
  { title: 'FixedFile' },
);

/** A sign of the screens of a group, and the change of the code that adds it. */
export const SignCandidate = Type.Object(
  {
    sign: Type.String({ description: 'As code: an entry of `states`, or `when` of a dialog' }),
    holds: Type.Integer({ description: 'Kept screens of the group on which it holds: all of them' }),
    elsewhere: Type.Integer({ description: 'Other saved screens on which it holds: none' }),
    fragile: Type.Array(
      Type.Enum(signFragilities, {
        description:
          '`opaque_id`: the ID looks as if a program had made it. `text`: it needs a text. `one_language`: the text is known in one wording, of phones in one language. `one_app_version`: the group’s records are of one version of the app. `seen_once`: the group has one kept screen',
      }),
    ),
    files: Type.Array(FixedFile, {
      description: 'Of the saved files, those that change. Empty when no place for it was found',
    }),
    problem: Type.String({ description: 'Why no file changes; empty when one does' }),
    snippet: Type.String({ description: 'To put in by hand' }),
  },
  { title: 'SignCandidate' },
);
export type SignCandidate = Static<typeof SignCandidate>;

export const fixKinds = ['state', 'dialog'] as const;

const params = Type.Object({ id: Id });
const group = Type.Object({ success, group: RecordGroup });
const uuids = (maxItems: number) => Type.Array(Uuid, { minItems: 1, maxItems, uniqueItems: true });

/** Records that show the same screen, or crashes of one error at one place. */
export const groupRoutes = {
  list: {
    method: 'GET',
    path: '/api/v2/groups',
    operationId: 'listGroups',
    tag: 'Records',
    summary: 'List the groups of records that show the same screen, or crashed with the same error',
    description:
      'The last screen of each record that is not `debug` puts it into a group, soon after its tree has arrived; a crash its error, without the numbers in it, and the function of the code where it came up. Owners and shared editors of the automation see its groups. Begins with the group that was seen last, or with the one that has the most records.',
    scope: 'read',
    reach: { projects: 'within', phones: 'refused' },
    query: Type.Object({
      ...pageQuery,
      automation_id: Type.Optional(Id),
      status: Type.Optional(GroupStatus),
      assignee_id: Type.Optional(Id),
      sort: Type.Optional(Type.Enum(['last_seen', 'records'], { description: 'Default `last_seen`' })),
    }),
    responses: { 200: pageOf({ groups: Type.Array(RecordGroup) }) },
  },
  get: {
    method: 'GET',
    path: '/api/v2/groups/:id',
    operationId: 'getGroup',
    tag: 'Records',
    summary: 'Read one group, with its newest screens of up to eight phones',
    description: 'The ID of a group that was merged into another one gives that one.',
    scope: 'read',
    reach: { projects: 'within', phones: 'refused' },
    params,
    responses: {
      200: Type.Object({
        success,
        group: RecordGroup,
        screens: Type.Array(GroupRecord, { description: 'The newest one of each phone' }),
        app_versions: Type.Array(
          Type.Object({ version: nullableText('null: not known'), records: Type.Integer() }),
          { description: 'Of its newest 5,000 records, those with the most records first' },
        ),
        languages: Type.Array(
          Type.Object({ language: nullableText('null: not known'), records: Type.Integer() }),
          { description: 'Of the phones, likewise' },
        ),
        newest_verdict: Type.Union([GroupVerdict, Type.Null()]),
        kept_screens: Type.Array(Type.String(), {
          description: 'Names of the screens of which replays have copies',
        }),
        last_change: Type.Union([GroupChange, Type.Null()], { description: 'What `undo` would undo' }),
      }),
    },
    errors: ['group_not_found'],
  },
  listRecords: {
    method: 'GET',
    path: '/api/v2/groups/:id/records',
    operationId: 'listGroupRecords',
    tag: 'Records',
    summary: 'List the records of a group, newest first, with the reason why each belongs to it',
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
    summary: 'Read which group a record belongs to, or why it has none',
    scope: 'read',
    reach: { projects: 'within', phones: 'refused' },
    params,
    responses: {
      200: Type.Object({
        success,
        group_id: Type.Union([Uuid, Type.Null()]),
        reason: Type.Union([JoinReason, Type.Null()]),
        problem: Type.String({ description: 'Why it has no group; empty when it has one' }),
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
      'Its pending records are marked as well: `solved` marks them as solved, `ignored` as skipped; `"mark_records": false` leaves them. A solved group opens again with the first record of a run that began later. With `solved_in` it opens with the first record of a run whose commit contains that commit, and records of older commits are `outdated`.',
    scope: 'review',
    reach: { projects: 'within', phones: 'refused' },
    audit: 'change_group',
    params,
    body: Type.Object({
      status: Type.Optional(GroupStatus),
      assignee_id: Type.Optional(
        Type.Union([Id, Type.Null()], { description: 'An owner or shared editor; null: nobody' }),
      ),
      solved_in: Type.Optional(
        Type.String({
          pattern: '^[0-9a-fA-F]{7,40}$',
          description: 'A commit of the project, with `"status": "solved"`',
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
    description: 'Later records of their screens join this group, too.',
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
      'Later records join the new group when their screens have the prints of these, or are more like them. A print that records of both groups have stays with the old one.',
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
    summary: 'Propose signs that recognise the screens of a group, and the change of the code for each',
    description:
      'Up to five signs, the most lasting first. Each holds on all kept screens of the group and on no other saved screen of the automation: kept screens of other groups, golden screens of the saved files, and screens of records that were recognised. The change is made to the saved files and compiles; nothing is saved. The token needs the scope `review` as well.',
    scope: 'edit',
    reach: { projects: 'within', phones: 'refused' },
    audit: null,
    params,
    body: Type.Object({
      state: Type.Optional(
        Type.String({
          pattern: '^[A-Za-z_][A-Za-z0-9_]{0,59}$',
          description: 'What the code is to call the screen; by default a name made of its title',
        }),
      ),
      kind: Type.Optional(
        Type.Enum(fixKinds, {
          description:
            '`state` (default): a state of the screen. `dialog`: an entry of `dialogs` of `runStages`, which presses a button',
        }),
      ),
    }),
    bodyExample: { kind: 'state' },
    responses: {
      200: Type.Object({
        success,
        state: Type.String(),
        kind: Type.Enum(fixKinds),
        screens: Type.Integer({ description: 'Kept screens of the group' }),
        others: Type.Integer({ description: 'Other saved screens that were looked at' }),
        candidates: Type.Array(SignCandidate),
        problem: Type.String({ description: 'Why there is no candidate; empty when there is one' }),
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
      'Records that the mark has marked are pending again. Refused when another group of the merge or split has been changed since.',
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
    summary: 'Delete the copy of a screen of a group, so that no replay uses it again',
    description:
      '`kept_screens` of the group and the verdicts of replays have its name. Records that show the screen stay; delete those by themselves.',
    scope: 'review',
    reach: { projects: 'within', phones: 'refused' },
    audit: 'delete_group_screen',
    params: Type.Object({ id: Id, name: Type.String({ pattern: '^[0-9A-Za-z_-]{1,100}$' }) }),
    responses: { 200: Type.Object({ success }) },
    errors: ['group_not_found', 'group_screen_not_found'],
  },
} as const satisfies Record<string, RouteContract>;
