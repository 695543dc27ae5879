import { findCompiledPath } from '../compile/source-paths.ts';
import { findAt, withEntry } from '../git/tree-paths.ts';
import { ApiError } from '../http/api-error.ts';
import type { ProjectDesk } from '../projects/project-desk.ts';
import { findSourceOf } from './file-path.ts';
import { requireVersion, type Precondition } from './file-version.ts';
import { findFile } from './write-file.ts';

/** Deletes a file, and what was compiled of it, as one change. Durable when it resolves. */
export function deleteFile(
  desk: ProjectDesk,
  { projectId, path, precondition }: { projectId: string; path: string; precondition: Precondition },
): Promise<void> {
  return desk.repositories.write(projectId, async (draft, change) => {
    const { state } = change;
    const source = await findSourceOf(draft, state, path);
    if (source !== undefined) throw ApiError.of('compiled_file', { path, source });
    const found = await findAt(draft, state.files, path);
    if (found.kind === 'folder')
      throw ApiError.of('invalid_path', { problem: `"${path}" is a folder: delete the files in it` });
    if (found.kind !== 'file') throw ApiError.of('file_not_found', { path, project_id: projectId });
    await requireVersion(draft, { state, path, precondition });
    const sizeBytes = (await findFile(draft, state.files, path))?.sizeBytes ?? 0;
    const totals = await desk.totals.requireRoom(draft, state.files, { files: -1, bytes: -sizeBytes });
    const files = await withEntry(draft, state.files, path, undefined);
    const compiledPath = findCompiledPath(path);
    const compiled =
      compiledPath === undefined || (await findAt(draft, state.compiled, compiledPath)).kind !== 'file'
        ? state.compiled
        : await withEntry(draft, state.compiled, compiledPath, undefined);
    change.save({ files, compiled, head: state.head });
    desk.totals.remember(files, totals);
  });
}
