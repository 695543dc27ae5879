import { Type, type Static } from 'typebox';

import { CodeCompletion, CodeReferences, CodeSymbol } from '../../runs/code.ts';
import type { ErrorCode } from '../../errors.ts';
import { Id } from '../../ids.ts';
import { success, SuccessMessage, type RouteContract } from '../contract.ts';
import { pageOf, pageQuery } from '../page.ts';
import { searchText } from '../search-text.ts';

/** Maximum size of a file in bytes of UTF-8. */
export const maxFileBytes = 50 * 1024 * 1024;
/** Maximum number of files per project, not counting compiled ones. */
export const maxProjectFiles = 10_000;
/** Maximum total size of a project's files in bytes, not counting compiled ones. */
export const maxProjectBytes = 1024 * 1024 * 1024;

const params = Type.Object({ id: Id });

/** Conditions on the current file. If they do not hold, the response is 412 and nothing changes. */
const changeHeaders = Type.Object({
  'if-match': Type.Optional(
    Type.String({ description: 'Only if the file has this `ETag`; `*`: only if the file exists' }),
  ),
  'if-none-match': Type.Optional(Type.String({ description: '`*`: only if the file does not exist yet' })),
});
export const filePath = Type.String({
  description: 'Relative path in the project, such as `flows/login.ts`, of at most 1,024 bytes',
});
const path = filePath;
export const NewFile = Type.Object({ path, content: Type.String() });

const commit = Type.Optional(
  Type.String({
    pattern: '^[0-9a-f]{40}$',
    description: 'Hash of a commit: reads the files of that commit instead of the saved files',
  }),
);

const tree = Type.Optional(
  Type.String({
    pattern: '^[0-9a-f]{40}$',
    description:
      'The `tree` of a run of the project: reads the file as that run had it, even if it was never committed',
  }),
);

export const FileChange = Type.Enum(['unchanged', 'added', 'modified', 'deleted'], { title: 'FileChange' });
export type FileChange = Static<typeof FileChange>;

/** File of the project, or file that was deleted since the newest commit. Compiled files are not listed. */
export const FileListing = Type.Object(
  {
    path: Type.String(),
    size: Type.Integer({
      minimum: 0,
      description: 'Size in bytes; for a deleted file, its size in the newest commit',
    }),
    etag: Type.String({
      description: 'Version of the content, for `If-Match`',
      examples: ['"3b18e512dba79e4c8300dd08aeb37f8e728b8dad"'],
    }),
    change: FileChange,
    compiled_path: Type.String({
      description: 'Path of the compiled file; the same as `path` if the file is not compiled',
    }),
  },
  { title: 'File' },
);
export type FileListing = Static<typeof FileListing>;

/** Maximum size of a body in bytes. JSON encodes one byte as up to six ("\u0001"). */
const bodyLimitBytes = 6 * maxFileBytes + 64 * 1024;
const treeEtag = Type.String({
  description: 'Version of all saved files together',
  examples: ['"4b825dc642cb6eb9a060e54bf8d69288fbee4904"'],
});

/** Failures of writing files, with the same rules for one or many. */
const whyNotSaved = [
  'precondition_failed',
  'compile_failed',
  'compiler_unavailable',
  'invalid_path',
  'invalid_content',
  'invalid_tsconfig',
  'compiled_file',
  'source_conflict',
  'compiled_path_taken',
  'project_full',
  'file_too_large',
  'project_bytes_exceeded',
  'too_many_waiting',
  'too_busy',
] as const satisfies readonly ErrorCode[];

const whyNotChecked = [
  'project_not_found',
  'invalid_path',
  'invalid_content',
  'compiled_file',
  'source_conflict',
  'compiled_path_taken',
] as const satisfies readonly ErrorCode[];
const checkedBytes = 1024 * 1024;
const placeInCode = Type.Object({
  path,
  content: Type.String(),
  position: Type.Integer({ minimum: 0, description: 'Offset in `content`, in UTF-16 code units' }),
});

/** Reading and writing the files of a project. */
export const fileRoutes = {
  write: {
    method: 'PUT',
    path: '/api/v2/automation/file/:id',
    operationId: 'writeFile',
    tag: 'Files',
    summary: 'Create or update a file; TypeScript is compiled',
    description:
      '`.ts`, `.tsx`, `.mts` and `.cts` files are checked and compiled to a `.js`, `.mjs` or `.cjs` file in the same folder; if that fails, nothing is changed. `content` has at most 52,428,800 bytes of UTF-8.',
    scope: 'edit',
    reach: { projects: 'within', phones: 'none' },
    audit: 'write_file',
    params,
    headers: changeHeaders,
    body: NewFile,
    bodyLimitBytes,
    responses: {
      200: Type.Object({
        success,
        path: Type.String(),
        compiledPath: Type.String({
          description: 'Path of the compiled file; the same as `path` if nothing was compiled',
        }),
        compiled: Type.Boolean(),
        warnings: Type.Array(Type.String(), {
          description:
            'Errors that did not prevent the write, as lines such as `main.ts(3,7): error TS2305: …`: errors that this change causes in other files, and errors in a `.js`, `.d.ts` or `.json` file',
        }),
      }),
    },
    errors: ['project_not_found', ...whyNotSaved],
  },
  read: {
    method: 'GET',
    path: '/api/v2/automation/file/:id',
    operationId: 'readFile',
    tag: 'Files',
    summary: 'Read a file, or the compiled form of a file',
    scope: 'read',
    reach: { projects: 'within', phones: 'none' },
    params,
    headers: Type.Object({
      'if-none-match': Type.Optional(
        Type.String({
          description: 'The `ETag` of an earlier reply; if the file has not changed, the reply is 304',
        }),
      ),
    }),
    query: Type.Object({ path, commit, tree }),
    responses: { 200: Type.Object({ success, content: Type.String(), path: Type.String() }), 304: [] },
    errors: [
      ...(['project_not_found', 'file_not_found', 'invalid_path', 'file_not_text'] as const),
      ...(['commit_not_found', 'tree_not_kept', 'too_many_waiting', 'too_busy'] as const),
    ],
  },
  check: {
    method: 'POST',
    path: '/api/v2/automation/check/:id',
    operationId: 'checkFile',
    tag: 'Files',
    summary: 'Check a file without saving it',
    description:
      'For editors, while the user types: returns the errors and warnings of a write with the same content.',
    scope: 'edit',
    reach: { projects: 'within', phones: 'none' },
    audit: null,
    params,
    body: NewFile,
    bodyLimitBytes: checkedBytes,
    responses: {
      200: Type.Object({
        success,
        errors: Type.Array(Type.String(), {
          description:
            'Errors for which a write would be refused, as lines such as `main.ts(3,7): error TS2305: …`',
        }),
        warnings: Type.Array(Type.String(), {
          description: 'Errors that would not prevent a write, in the same format',
        }),
      }),
    },
    errors: whyNotChecked,
  },
  symbol: {
    method: 'POST',
    path: '/api/v2/automation/symbol/:id',
    operationId: 'findSymbol',
    tag: 'Files',
    summary: 'Describe the symbol at a position in a file that is not saved yet',
    description: 'For editors: returns the type, documentation and signatures of the name at `position`.',
    scope: 'edit',
    reach: { projects: 'within', phones: 'none' },
    audit: null,
    params,
    body: placeInCode,
    bodyLimitBytes: checkedBytes,
    responses: { 200: Type.Object({ success, symbol: Type.Union([CodeSymbol, Type.Null()]) }) },
    errors: whyNotChecked,
  },
  completions: {
    method: 'POST',
    path: '/api/v2/automation/completions/:id',
    operationId: 'listCompletions',
    tag: 'Files',
    summary: 'List completions at a position in a file that is not saved yet',
    description:
      'For editors: returns members after a dot, the values of a union type inside quotes, and otherwise the names in scope.',
    scope: 'edit',
    reach: { projects: 'within', phones: 'none' },
    audit: null,
    params,
    body: placeInCode,
    bodyLimitBytes: checkedBytes,
    responses: { 200: Type.Object({ success, completions: Type.Array(CodeCompletion) }) },
    errors: whyNotChecked,
  },
  references: {
    method: 'POST',
    path: '/api/v2/automation/references/:id',
    operationId: 'findReferences',
    tag: 'Files',
    summary: 'Find where a name in a file is defined and used in the project',
    description: 'For editors, to go to a definition and to rename: searches the name at `position`.',
    scope: 'edit',
    reach: { projects: 'within', phones: 'none' },
    audit: null,
    params,
    body: placeInCode,
    bodyLimitBytes: checkedBytes,
    responses: { 200: Type.Object({ success, ...CodeReferences.properties }) },
    errors: whyNotChecked,
  },
  search: {
    method: 'GET',
    path: '/api/v2/automation/search/:id',
    operationId: 'searchFiles',
    tag: 'Files',
    summary: 'Search the text of all files',
    description:
      'Returns the lines that contain `text`, case-insensitive, ordered by path; at most 20 lines of a file.',
    scope: 'read',
    reach: { projects: 'within', phones: 'none' },
    params,
    query: Type.Object({
      text: searchText('Text to find within a line', { minLength: 1 }),
    }),
    responses: {
      200: Type.Object({
        success,
        matches: Type.Array(
          Type.Object({
            path: Type.String(),
            line: Type.Integer({ minimum: 1 }),
            text: Type.String({ description: 'The line, truncated to 300 characters' }),
          }),
        ),
        truncated: Type.Boolean({
          description: 'Whether there are more matches than the 1,000 that are listed',
        }),
      }),
    },
    errors: ['project_not_found', 'too_many_waiting', 'too_busy'],
  },
  delete: {
    method: 'DELETE',
    path: '/api/v2/automation/file/:id',
    operationId: 'deleteFile',
    tag: 'Files',
    summary: 'Delete a file and its compiled form',
    scope: 'edit',
    reach: { projects: 'within', phones: 'none' },
    audit: 'delete_file',
    params,
    headers: changeHeaders,
    query: Type.Object({ path }),
    responses: { 200: SuccessMessage },
    errors: ['project_not_found', 'precondition_failed', 'file_not_found', 'invalid_path', 'compiled_file'],
  },
  rename: {
    method: 'POST',
    path: '/api/v2/automation/rename/:id',
    operationId: 'renameFile',
    tag: 'Files',
    summary: 'Rename a file, and update the imports of it in other files',
    description:
      'The project with the change is checked and compiled as a whole; if that fails, nothing is changed.',
    scope: 'edit',
    reach: { projects: 'within', phones: 'none' },
    audit: 'rename_file',
    params,
    body: Type.Object({ path, new_path: path }),
    responses: {
      200: Type.Object({
        success,
        etag: treeEtag,
        changed: Type.Array(Type.String(), {
          description: 'Paths of the other files whose imports were updated',
        }),
        warnings: Type.Array(Type.String(), { description: 'Warnings as of a write' }),
      }),
    },
    errors: ['project_not_found', 'file_not_found', ...whyNotSaved],
  },
  list: {
    method: 'GET',
    path: '/api/v2/automation/files/:id',
    operationId: 'listFiles',
    tag: 'Files',
    summary: 'List the files by path, with their changes since the newest commit',
    description: 'With `commit`, all files are `unchanged`.',
    scope: 'read',
    reach: { projects: 'within', phones: 'none' },
    params,
    query: Type.Object({ ...pageQuery, commit }),
    responses: {
      200: pageOf({
        files: Type.Array(FileListing),
        dirty: Type.Boolean({ description: 'Whether there are uncommitted changes' }),
        etag: treeEtag,
      }),
    },
    errors: ['project_not_found', 'commit_not_found', 'too_many_waiting', 'too_busy'],
  },
  replace: {
    method: 'PUT',
    path: '/api/v2/automation/files/:id',
    operationId: 'replaceFiles',
    tag: 'Files',
    summary: 'Write and delete many files at once, all or nothing',
    description:
      'The project with the changes is checked and compiled as a whole; if that fails, or if the saved files no longer have the version `expected_etag`, nothing is changed. The rules of a single write apply to each file.',
    scope: 'edit',
    reach: { projects: 'within', phones: 'none' },
    audit: 'replace_files',
    params,
    body: Type.Object({
      files: Type.Array(NewFile, {
        maxItems: maxProjectFiles,
        description: 'New and changed files; all other files are kept',
      }),
      deleted: Type.Array(path, { maxItems: maxProjectFiles }),
      expected_etag: Type.String({
        description: 'The `etag` of the file list that the changes are based on',
      }),
    }),
    bodyExample: {
      files: [{ path: 'flows/login.ts', content: 'export const user = "ada";\n' }],
      deleted: ['flows/old.ts'],
      expected_etag: '"4b825dc642cb6eb9a060e54bf8d69288fbee4904"',
    },
    bodyLimitBytes,
    responses: {
      200: Type.Object({
        success,
        etag: treeEtag,
        warnings: Type.Array(Type.String(), {
          description: 'Errors in the first 100 of the `.js`, `.d.ts` and `.json` files among `files`',
        }),
      }),
    },
    errors: ['project_not_found', 'file_not_found', ...whyNotSaved],
  },
} as const satisfies Record<string, RouteContract>;
