import { Type, type Static } from 'typebox';

import { EpochMs, Id, Uuid } from '../../ids.ts';
import { ReplayVerdict, SequenceResult } from '../../replay/replay-messages.ts';
import { success, type RouteContract } from '../contract.ts';
import { filePath, NewFile } from '../code/files.ts';
import { idPageQuery, pageOf, pageQuery } from '../page.ts';

export const replaySets = ['open', 'all', 'golden'] as const;
export const ReplaySet = Type.Enum(replaySets, {
  title: 'ReplaySet',
  description:
    'Screens that are replayed. `open`: the screens of open groups. `all`: the screens of all groups, and the golden screens. `golden`: the golden screens of the project',
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
        'Control replay with the code of the run, done if the replayed code does not do what the record shows. `same`: the code of the run does it, so the difference comes from the replayed code. `not_reproducible`: the code of the run does not do it either, so the record proves nothing about the replayed code. `not_known`: the run was deleted or had uncommitted changes, or its commit is no longer in the history. null: not done',
    }),
  },
  { title: 'SequenceOutcome' },
);
export type SequenceOutcome = Static<typeof SequenceOutcome>;

export const ReplayCounts = Type.Object(
  {
    screens: count('Number of screens in the set'),
    replayed: count('Number of screens that have a verdict so far'),
    known: count('Number of these that are recognised, or as expected'),
    handled: count('Number of known screens of groups on which the code acts'),
    recognised: count('Number of screens that are known and were not known before'),
    broken: count('Number of screens that were known before and no longer are'),
    not_told: count('Number of screens that cannot be replayed, because the code stores no screen'),
    golden: count('Number of golden screens that have a verdict so far'),
    golden_expected: count('Number of these golden screens that are as expected'),
  },
  { title: 'ReplayCounts' },
);
export type ReplayCounts = Static<typeof ReplayCounts>;

export const Replay = Type.Object(
  {
    id: Uuid,
    project_id: Uuid,
    commit: Type.Union([Type.String(), Type.Null()], {
      description: 'Commit whose files were replayed; null: uncommitted files',
    }),
    draft: Type.Boolean({
      description: 'Whether it replayed unsaved files; later replays are not compared with a draft',
    }),
    set: ReplaySet,
    group_id: Type.Union([Uuid, Type.Null()], {
      description: 'Group whose screens were replayed, in place of `set`; null: the screens of `set`',
    }),
    cause: Type.Enum(replayCauses, {
      description:
        '`request`: a user requested it. `save`: files were saved; a newer save replaces the replay. `commit`: a commit or push changed `main`',
    }),
    mode: Type.Enum(replayModes, {
      description: '`screens`: each screen separately. `sequence`: the screens of one record in order',
    }),
    record_id: Type.Union([Uuid, Type.Null()], {
      description: 'Record of a `sequence`, in place of `set`; else null',
    }),
    sequence: Type.Union([SequenceOutcome, Type.Null()], {
      description: 'Result of a `sequence` that is done; else null',
    }),
    status: Type.Enum(replayStatuses),
    problem: Type.String({ description: 'Why the replay failed, or what it waits for; else empty' }),
    made_by: Type.String({
      description: 'ID of the user who requested it; for a save or a commit, the owner of the project',
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
    name: Type.String({ description: 'Path of a golden screen, or fingerprint of a screen of a group' }),
    group_id: Type.Union([Uuid, Type.Null()]),
    expected: Type.Union([Type.String(), Type.Null()], {
      description: 'State that a golden screen expects; else null',
    }),
    outcome: Type.Enum(replayOutcomes, {
      description:
        '`handled`: recognised, and the code acts on it. `recognised`: recognised, but the run would still be out of steps. `unknown`: not recognised. `expected` and `unexpected`: whether a golden screen has its expected state. `not_told`: the code stores no screen. `failed`: the code threw an error, or took too long',
    }),
    change: Type.Enum(replayChanges, {
      description:
        'Change since the last replay of other code (for a save or a commit, since that of another commit); without one, compared with the record',
    }),
    verdict: ReplayVerdict,
  },
  { title: 'ReplayedScreen' },
);
export type ReplayedScreenView = Static<typeof ReplayedScreenView>;

/** Maximum size in bytes of a request with unsaved files. */
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
      'Runs on a host, which needs no devices. Poll the replay until its status is `done`. The code sees each saved screen in place of a device; the first screen that it stores is the verdict. With `files` or `deleted`, the replay is a draft: the changes are applied to the saved files by the rules of writes, but not saved; this also needs the scope `edit`. A `sequence` shows whether the run of a record would now go differently: the next screen is shown once the code has done what the record shows.',
    scope: 'review',
    reach: { projects: 'within', phones: 'refused' },
    audit: 'replay',
    params,
    body: Type.Object({
      set: Type.Optional(ReplaySet),
      commit: Type.Optional(
        Type.String({
          pattern: '^[0-9a-fA-F]{7,40}$',
          description: 'Hash of a commit of the project. Default: the saved files',
        }),
      ),
      group_id: Type.Optional(
        Type.String({ maxLength: 100, description: 'ID of a group: only its screens' }),
      ),
      mode: Type.Optional(
        Type.Enum(replayModes, { description: 'Default `screens`; `sequence` needs `record_id`' }),
      ),
      record_id: Type.Optional(
        Type.String({
          maxLength: 100,
          description: 'ID of a record of the project, whose screens are replayed in order',
        }),
      ),
      files: Type.Optional(Type.Array(NewFile, { maxItems: maxDraftFiles, description: 'Unsaved files' })),
      deleted: Type.Optional(
        Type.Array(filePath, {
          maxItems: maxDraftFiles,
          description: 'Paths of files that are deleted in the draft',
        }),
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
    summary: 'List the recent replays of a project, newest first',
    description:
      'A save replays the screens of open groups (`open`); a commit or push replays all screens (`all`). The result of a commit is the newest replay with its hash and the cause `commit`.',
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
    summary: 'List the verdicts of a replay, one for each screen',
    scope: 'read',
    reach: { projects: 'within', phones: 'refused' },
    params,
    query: Type.Object({
      ...pageQuery,
      changed: Type.Optional(
        Type.Enum(['true', 'false'] as const, {
          description: '`true`: only screens whose `change` is `recognised` or `broken`',
        }),
      ),
      group_id: Type.Optional(
        Type.String({ maxLength: 100, description: 'ID of a group: only its screens' }),
      ),
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
    description: 'Keeps the verdicts so far. A replay that has ended is not changed.',
    scope: 'review',
    reach: { projects: 'within', phones: 'refused' },
    audit: 'stop_replay',
    params,
    responses: { 200: one },
    errors: ['replay_not_found'],
  },
} as const satisfies Record<string, RouteContract>;
