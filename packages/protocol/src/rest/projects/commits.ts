import { Type, type Static } from 'typebox';

import { EpochMs, Id, Uuid } from '../../ids.ts';
import { success, type RouteContract } from '../contract.ts';
import { FileChange } from './files.ts';
import { pageOf, pageQuery } from '../page.ts';

const hash = Type.String({ description: "Git's hash, 40 hexadecimal digits" });
const params = Type.Object({ id: Id });
const nullableHash = Type.Union([hash, Type.Null()]);

export const Commit = Type.Object({ hash, message: Type.String() }, { title: 'Commit' });
export type Commit = Static<typeof Commit>;

export const ListedCommit = Type.Object(
  {
    hash,
    message: Type.String(),
    author: Type.Object({ name: Type.String(), email: Type.String() }),
    created_at: EpochMs,
    parents: Type.Array(hash),
  },
  { title: 'ListedCommit' },
);
export type ListedCommit = Static<typeof ListedCommit>;

export const FileDiff = Type.Object(
  {
    path: Type.String(),
    change: FileChange,
    diff: Type.Union([Type.String(), Type.Null()], {
      description: 'Unified text; null when the file is binary, too large, or beyond the limit of the reply',
    }),
  },
  { title: 'FileDiff' },
);
export type FileDiff = Static<typeof FileDiff>;

/** The history of a project. */
export const commitRoutes = {
  commit: {
    method: 'POST',
    path: '/api/v2/automation/commit/:id',
    operationId: 'commit',
    tag: 'Commits',
    summary: 'Commit all current changes',
    description:
      '`message` has 1 to 1000 characters without the white space around it. Its line ends become LF, as git has them. A line `Solves <ID of a group>` solves that group of records in this commit; it needs the scope `review`, too.',
    scope: 'edit',
    reach: { projects: 'within', phones: 'none' },
    audit: 'commit',
    params,
    body: Type.Object({ message: Type.String() }),
    responses: {
      201: Type.Object({
        success,
        commit: Commit,
        solves: Type.Optional(
          Type.Array(Uuid, {
            description:
              'Groups of records that lines such as `Solves 0197c6a4-…` of the message have marked',
          }),
        ),
      }),
    },
    errors: ['project_not_found', 'nothing_to_commit'],
  },
  list: {
    method: 'GET',
    path: '/api/v2/automation/commits/:id',
    operationId: 'listCommits',
    tag: 'Commits',
    summary: 'List the commits, newest first',
    scope: 'read',
    reach: { projects: 'within', phones: 'none' },
    params,
    query: Type.Object(pageQuery),
    responses: { 200: pageOf({ commits: Type.Array(ListedCommit) }) },
    errors: ['project_not_found', 'too_many_waiting', 'too_busy'],
  },
  diff: {
    method: 'GET',
    path: '/api/v2/automation/diff/:id',
    operationId: 'diff',
    tag: 'Commits',
    summary: 'What has changed since the newest commit, or in a commit, file by file',
    scope: 'read',
    reach: { projects: 'within', phones: 'none' },
    params,
    query: Type.Object({
      commit: Type.Optional(
        Type.String({
          pattern: '^[0-9a-f]{40}$',
          description: 'What this commit changed, instead of what is not committed',
        }),
      ),
    }),
    responses: {
      200: Type.Object({
        success,
        base: Type.Union([hash, Type.Null()], {
          description:
            'What the files are compared with: the newest commit, or the one before `commit`; null: nothing',
        }),
        files: Type.Array(FileDiff),
        truncated: Type.Boolean({ description: 'Whether the reply leaves text out because of its limit' }),
      }),
    },
    errors: ['project_not_found', 'commit_not_found', 'too_many_waiting', 'too_busy'],
  },
  revert: {
    method: 'POST',
    path: '/api/v2/automation/revert/:id',
    operationId: 'revert',
    tag: 'Commits',
    summary: 'Put all files back to a commit',
    description:
      'The files become those of the commit, as uncommitted changes; the history stays as it is. With the newest commit, this discards what was not committed. Uncommitted changes that it replaces are kept as the commit `replaced`, which can be reverted to like any other.',
    scope: 'edit',
    reach: { projects: 'within', phones: 'none' },
    audit: 'revert',
    params,
    body: Type.Object({ hash: Type.String() }),
    responses: {
      200: Type.Object({ success, message: Type.String(), commit: Commit, replaced: nullableHash }),
    },
    errors: [
      'project_not_found',
      'commit_not_found',
      'compile_failed',
      'compiler_unavailable',
      'too_many_waiting',
      'too_busy',
    ],
  },
} as const satisfies Record<string, RouteContract>;
