import { Type, type Static } from 'typebox';

import { EpochMs, Id, Uuid } from '../../ids.ts';
import { success, type RouteContract } from '../contract.ts';
import { FileChange } from './files.ts';
import { pageOf, pageQuery } from '../page.ts';

const hash = Type.String({ description: 'Git hash, 40 hexadecimal digits' });
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
      description:
        'Unified diff; null if the file is binary or too large, or if the reply has reached its size limit',
    }),
  },
  { title: 'FileDiff' },
);
export type FileDiff = Static<typeof FileDiff>;

/** History of a project. */
export const commitRoutes = {
  commit: {
    method: 'POST',
    path: '/api/v2/automation/commit/:id',
    operationId: 'commit',
    tag: 'Commits',
    summary: 'Commit all current changes',
    description:
      '`message` has 1 to 1000 characters, not counting leading and trailing white space. Line breaks are converted to LF. A line `Solves <group ID>` marks that group of records as solved in this commit, which also needs the scope `review`.',
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
              'IDs of the groups of records that were marked as solved by lines such as `Solves 0197c6a4-…` in the message',
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
    summary: 'Read the changes since the newest commit, or of one commit, by file',
    scope: 'read',
    reach: { projects: 'within', phones: 'none' },
    params,
    query: Type.Object({
      commit: Type.Optional(
        Type.String({
          pattern: '^[0-9a-f]{40}$',
          description: 'Hash of a commit whose changes are returned, instead of the uncommitted changes',
        }),
      ),
    }),
    responses: {
      200: Type.Object({
        success,
        base: Type.Union([hash, Type.Null()], {
          description:
            'Commit that the files are compared with: the newest commit, or the parent of `commit`; null: there is none',
        }),
        files: Type.Array(FileDiff),
        truncated: Type.Boolean({
          description: 'Whether diffs are left out because of the size limit of the reply',
        }),
      }),
    },
    errors: ['project_not_found', 'commit_not_found', 'too_many_waiting', 'too_busy'],
  },
  revert: {
    method: 'POST',
    path: '/api/v2/automation/revert/:id',
    operationId: 'revert',
    tag: 'Commits',
    summary: 'Revert all files to a commit',
    description:
      'Replaces all files with those of the commit, as uncommitted changes; the history does not change. Reverting to the newest commit discards the uncommitted changes. Uncommitted changes that are replaced are kept as the commit `replaced`, to which you can revert as to any other.',
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
