import { Type, type Static } from 'typebox';

import { Id } from '../ids.ts';
import { success, SuccessMessage, type RouteContract } from './contract.ts';
import { pageOf, pageQuery } from './page.ts';

/** The most that one file may hold, in bytes of UTF-8. */
export const maxFileBytes = 50 * 1024 * 1024;
/** The most files that a project may have, without the compiled ones. */
export const maxProjectFiles = 10_000;
/** The most that the files of a project may hold together, in bytes, without the compiled ones. */
export const maxProjectBytes = 1024 * 1024 * 1024;

const params = Type.Object({ id: Id });
const path = Type.String({
  description: 'Relative path in the project, such as `flows/login.ts`; at most 1,024 bytes',
});

export const FileChange = Type.Enum(['unchanged', 'added', 'modified', 'deleted']);
export type FileChange = Static<typeof FileChange>;

/** A file of the project, or one that was deleted since the newest commit. Compiled files are not listed. */
export const FileListing = Type.Object({
  path: Type.String(),
  size: Type.Integer({ minimum: 0, description: 'Bytes; of a deleted file, what the newest commit has' }),
  change: FileChange,
  compiled_path: Type.String({ description: 'Where its compiled form is; its own path when there is none' }),
});
export type FileListing = Static<typeof FileListing>;

/** Reading and writing the files of a project. */
export const fileRoutes = {
  write: {
    method: 'PUT',
    path: '/api/v2/automation/file/:id',
    operationId: 'writeFile',
    tag: 'Files',
    summary: 'Create or update a file; TypeScript is compiled',
    description:
      '`.ts`, `.tsx`, `.mts` and `.cts` files are checked and compiled to the `.js`, `.mjs` or `.cjs` beside them; when that fails, nothing is changed. `content` holds at most 52,428,800 bytes of UTF-8.',
    scope: 'edit',
    params,
    body: Type.Object({ path, content: Type.String() }),
    // JSON writes one byte as up to six ("\u0001").
    bodyLimitBytes: 6 * maxFileBytes + 64 * 1024,
    responses: {
      200: Type.Object({
        success,
        path: Type.String(),
        compiledPath: Type.String({ description: 'The same as `path` when nothing was compiled' }),
        compiled: Type.Boolean(),
        warnings: Type.Array(Type.String(), {
          description:
            'Lines such as `main.ts(3,7): error TS2305: …` for what was saved all the same: mistakes that this change brings into other files, and mistakes in a `.js`, `.d.ts` or `.json` file',
        }),
      }),
    },
    errors: [404],
  },
  read: {
    method: 'GET',
    path: '/api/v2/automation/file/:id',
    operationId: 'readFile',
    tag: 'Files',
    summary: 'Read a file, or what was compiled of one',
    scope: 'read',
    params,
    query: Type.Object({ path }),
    responses: { 200: Type.Object({ success, content: Type.String(), path: Type.String() }) },
    errors: [404],
  },
  delete: {
    method: 'DELETE',
    path: '/api/v2/automation/file/:id',
    operationId: 'deleteFile',
    tag: 'Files',
    summary: 'Delete a file, and what was compiled of it',
    scope: 'edit',
    params,
    query: Type.Object({ path }),
    responses: { 200: SuccessMessage },
    errors: [404],
  },
  list: {
    method: 'GET',
    path: '/api/v2/automation/files/:id',
    operationId: 'listFiles',
    tag: 'Files',
    summary: 'List the files by path, with what has changed since the newest commit',
    scope: 'read',
    params,
    query: Type.Object(pageQuery),
    responses: {
      200: pageOf({
        files: Type.Array(FileListing),
        dirty: Type.Boolean({ description: 'Whether there is something to commit' }),
      }),
    },
    errors: [404],
  },
} as const satisfies Record<string, RouteContract>;
