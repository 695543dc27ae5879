import { Type, type Static } from 'typebox';

import { EpochMs, Id, Uuid } from '../../ids.ts';
import { ReplayVerdict, SequenceResult } from '../../replay/replay-messages.ts';
import { success, type RouteContract } from '../contract.ts';
import { filePath, NewFile } from '../projects/files.ts';
import { idPageQuery, pageOf, pageQuery } from '../page.ts';

export const replaySets = ['open', 'all', 'golden'] as const;
export const ReplaySet = Type.Enum(replaySets, {
  title: 'ReplaySet',
  description:
    '`open`: screens of the open groups. `all`: those of all groups, and the golden screens. `golden`: the golden screens of the code',
});
export type ReplaySet = Static<typeof ReplaySet>;

export const replayCauses = ['request', 'save', 'commit'] as const;
export type ReplayCause = (typeof replayCauses)[number];

export const replayStatuses = ['waiting', 'running', 'done', 'failed', 'stopped'] as const;
export const replayChanges = ['recognised', 'broken', 'unchanged'] as const;
export const replayOutcomes = [
  'handled',
  'recognised',
  'unknown',
  'expected',
  'unexpected',
  'not_told',
  'failed',
] as const;
export type ReplayOutcome = (typeof replayOutcomes)[number];
export type ReplayChange = (typeof replayChanges)[number];

const count = (description: string) => Type.Integer({ description });
const nullableTime = Type.Union([EpochMs, Type.Null()]);

export const replayModes = ['screens', 'sequence'] as const;

export const SequenceOutcome = Type.Object(
  {
    result: SequenceResult,
    own_code: Type.Union([Type.Enum(['same', 'not_reproducible', 'not_known'] as const), Type.Null()], {
      description:
        'Asked when the code does not do what the record tells. `same`: the commit of its run does, so the difference is of this code. `not_reproducible`: that commit does not either, so the record says nothing of this code. `not_known`: the run is gone, had changes that no commit has, or its commit is no longer in the history',
    }),
  },
  { title: 'SequenceOutcome' },
);
export type SequenceOutcome = Static<typeof SequenceOutcome>;

export const ReplayCounts = Type.Object(
  {
    screens: count('In the set'),
    replayed: count('Have a verdict by now'),
    known: count('Of these: recognised, or as expected'),
    handled: count('Of the known ones of groups: the code acts on them'),
    recognised: count('Were not known before'),
    broken: count('Were known before, and are not now'),
    not_told: count('The code says of them nothing, so they can’t be replayed'),
    golden: count('Golden screens, of those that have a verdict by now'),
    golden_expected: count('Of these: as expected'),
  },
  { title: 'ReplayCounts' },
);
export type ReplayCounts = Static<typeof ReplayCounts>;

export const Replay = Type.Object(
  {
    id: Uuid,
    project_id: Uuid,
    commit: Type.Union([Type.String(), Type.Null()], {
      description: 'The commit whose files were replayed; null: files that no commit has',
    }),
    draft: Type.Boolean({
      description: 'Whether it was of unsaved text, which no later replay is compared with',
    }),
    set: ReplaySet,
    group_id: Type.Union([Uuid, Type.Null()], {
      description: 'Only the screens of this group were replayed, and `set` does not count',
    }),
    cause: Type.Enum(replayCauses, {
      description:
        '`request`: somebody has asked for it. `save`: files were saved; the newest save takes its place. `commit`: a commit or push moved `main`',
    }),
    mode: Type.Enum(replayModes, {
      description: '`screens`: each screen alone. `sequence`: those of one record in order',
    }),
    record_id: Type.Union([Uuid, Type.Null()], { description: 'Of a `sequence`; its `set` does not count' }),
    sequence: Type.Union([SequenceOutcome, Type.Null()], { description: 'Of a `sequence` that is done' }),
    status: Type.Enum(replayStatuses),
    problem: Type.String({ description: 'Why it failed, or what it waits for; else empty' }),
    made_by: Type.String({
      description: 'ID of the user; the owner of the project when a save or a commit is the cause',
    }),
    counts: ReplayCounts,
    created_at: EpochMs,
    started_at: nullableTime,
    ended_at: nullableTime,
  },
  { title: 'Replay' },
);
export type Replay = Static<typeof Replay>;

export const ReplayedScreenView = Type.Object(
  {
    position: Type.Integer(),
    kind: Type.Enum(['group', 'golden'] as const),
    name: Type.String({ description: 'The path of a golden screen; the print of a screen of a group' }),
    group_id: Type.Union([Uuid, Type.Null()]),
    expected: Type.Union([Type.String(), Type.Null()], {
      description: 'The state that a golden screen names',
    }),
    outcome: Type.Enum(replayOutcomes, {
      description:
        '`handled`: recognised, and the code acts. `recognised`: it would still run out of steps. `expected` and `unexpected`: of golden screens. `not_told`: the code stores no screen. `failed`: it threw, or took too long',
    }),
    change: Type.Enum(replayChanges, {
      description:
        'Against the last replay of other code, for a save or a commit of other commits; without one, against what the record says',
    }),
    verdict: ReplayVerdict,
  },
  { title: 'ReplayedScreen' },
);
export type ReplayedScreenView = Static<typeof ReplayedScreenView>;

/** Maximum size of a request with unsaved text. */
const draftBytes = 4 * 1024 * 1024;
const maxDraftFiles = 500;

const params = Type.Object({ id: Id });
const one = Type.Object({ success, replay: Replay });

/** Replays of saved screens with a project's code. */
export const replayRoutes = {
  start: {
    method: 'POST',
    path: '/api/v2/automation/replay/:id',
    operationId: 'startReplay',
    tag: 'Records',
    summary: 'Replay saved screens with the code of a project',
    description:
      'A host without phones can do it. Poll the replay until its status is `done`. The code sees each saved screen instead of a phone; the first screen that it stores is its verdict. With `files` or `deleted` it is a draft: they are laid over the files, by the rules of writes, and nothing is saved; the scope `edit` is needed, too. A `sequence` asks whether the run of a record would have gone otherwise: the next screen is shown when the code has done what the record tells.',
    scope: 'review',
    reach: { projects: 'within', phones: 'refused' },
    audit: 'replay',
    params,
    body: Type.Object({
      set: Type.Optional(ReplaySet),
      commit: Type.Optional(
        Type.String({
          pattern: '^[0-9a-fA-F]{7,40}$',
          description: 'Of the history of the project; default: the saved files',
        }),
      ),
      group_id: Type.Optional(Type.String({ maxLength: 100, description: 'Only the screens of this group' })),
      mode: Type.Optional(
        Type.Enum(replayModes, { description: 'Default `screens`; a `sequence` needs `record_id`' }),
      ),
      record_id: Type.Optional(
        Type.String({ maxLength: 100, description: 'Of the project: its screens are replayed in order' }),
      ),
      files: Type.Optional(Type.Array(NewFile, { maxItems: maxDraftFiles, description: 'Unsaved text' })),
      deleted: Type.Optional(
        Type.Array(filePath, { maxItems: maxDraftFiles, description: 'Files that the draft does not have' }),
      ),
    }),
    bodyExample: { set: 'open' },
    bodyLimitBytes: draftBytes,
    responses: { 202: one },
    errors: [
      ...([
        'project_not_found',
        'commit_not_found',
        'group_not_found',
        'file_not_found',
        'record_not_found',
      ] as const),
      ...(['no_replay_host', 'too_many_replays'] as const),
      ...(['compile_failed', 'compiler_unavailable', 'invalid_path', 'invalid_content'] as const),
      ...(['invalid_tsconfig', 'compiled_file', 'source_conflict', 'compiled_path_taken'] as const),
      ...(['project_full', 'file_too_large', 'project_bytes_exceeded'] as const),
      ...(['too_many_waiting', 'too_busy'] as const),
    ],
  },
  list: {
    method: 'GET',
    path: '/api/v2/automation/replays/:id',
    operationId: 'listReplays',
    tag: 'Records',
    summary: 'List the last replays of a project, newest first',
    description:
      'Saves replay the screens of open groups, commits and pushes the whole set (`all`). The newest replay with the hash of a commit and the cause `commit` is its result.',
    scope: 'read',
    reach: { projects: 'within', phones: 'refused' },
    params,
    query: Type.Object(idPageQuery),
    responses: { 200: pageOf({ replays: Type.Array(Replay) }) },
    errors: ['project_not_found'],
  },
  get: {
    method: 'GET',
    path: '/api/v2/replays/:id',
    operationId: 'getReplay',
    tag: 'Records',
    summary: 'Read one replay',
    scope: 'read',
    reach: { projects: 'within', phones: 'refused' },
    params,
    responses: { 200: one },
    errors: ['replay_not_found'],
  },
  listVerdicts: {
    method: 'GET',
    path: '/api/v2/replays/:id/verdicts',
    operationId: 'listReplayVerdicts',
    tag: 'Records',
    summary: 'List what the code made of each screen',
    scope: 'read',
    reach: { projects: 'within', phones: 'refused' },
    params,
    query: Type.Object({
      ...pageQuery,
      changed: Type.Optional(
        Type.Enum(['true', 'false'] as const, {
          description: '`true`: only screens that are newly recognised or newly broken',
        }),
      ),
      group_id: Type.Optional(Type.String({ maxLength: 100, description: 'Only the screens of this group' })),
    }),
    responses: { 200: pageOf({ verdicts: Type.Array(ReplayedScreenView) }) },
    errors: ['replay_not_found'],
  },
  stop: {
    method: 'POST',
    path: '/api/v2/replays/:id/stop',
    operationId: 'stopReplay',
    tag: 'Records',
    summary: 'Stop a replay',
    description: 'The verdicts that are there stay. A replay that has ended stays as it is.',
    scope: 'review',
    reach: { projects: 'within', phones: 'refused' },
    audit: 'stop_replay',
    params,
    responses: { 200: one },
    errors: ['replay_not_found'],
  },
} as const satisfies Record<string, RouteContract>;
