import { findCompiledPath } from '../compile/source-paths.ts';
import type { ProjectDesk } from '../projects/project-desk.ts';
import { createProjectFiles } from '../projects/project-files.ts';
import { readSavedState } from '../projects/saved-state.ts';
import { type NewContent, requireContent } from './new-content.ts';
import { requirePlace } from './file-path.ts';
import { reviewFile } from './review-file.ts';

interface Findings {
  /** What would keep the file from being saved. */
  errors: string[];
  /** What would be saved all the same. */
  warnings: string[];
}

/** What a write of this content would say; nothing is changed. */
export async function checkFile(
  desk: ProjectDesk,
  { projectId, path, content }: { projectId: string; path: string; content: NewContent },
): Promise<Findings> {
  await requireContent(path, content);
  const { files: treeId } = await desk.repositories.read(projectId, async (repository) => {
    const state = await readSavedState(repository);
    await requirePlace(repository, state, path);
    return state;
  });
  const files = createProjectFiles(projectId, treeId, (work) => desk.repositories.read(projectId, work));
  if (findCompiledPath(path) === undefined)
    return { errors: [], warnings: await reviewFile(desk, files, { path, content }) };
  const result = await desk.compiler.compileFile(files, { path, content: await content.readText() });
  return result.ok ? { errors: [], warnings: result.warnings } : { errors: result.errors, warnings: [] };
}
