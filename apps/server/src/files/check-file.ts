import type { PlaceInCode } from '../compile/compiler.ts';
import { nothingFound, type Assistance } from '../compile/nothing-found.ts';
import type { ProjectFiles } from '../compile/project-mirror.ts';
import { findCompiledPath, isTypeScript } from '../compile/source-paths.ts';
import type { ProjectServices } from '../projects/project-services.ts';
import { createProjectFiles } from '../projects/project-files.ts';
import { type NewContent, requireContent } from './new-content.ts';
import { requirePlace } from './file-path.ts';
import { reviewFile } from './review-file.ts';

interface Findings {
  /** What would keep the file from being saved. */
  errors: string[];
  /** What would be saved all the same. */
  warnings: string[];
}

interface Draft {
  projectId: string;
  path: string;
  content: NewContent;
}

/** What a write of this content would say; nothing is changed. */
export async function checkFile(desk: ProjectServices, draft: Draft): Promise<Findings> {
  const { path, content } = draft;
  const files = await filesAround(desk, draft);
  if (findCompiledPath(path) === undefined)
    return { errors: [], warnings: await reviewFile(desk, files, { path, content }) };
  const result = await desk.compiler.compileFile(files, { path, content: await content.readText() });
  return result.ok ? { errors: [], warnings: result.warnings } : { errors: result.errors, warnings: [] };
}

/** What stands, or could stand, at a place of a file as it would be saved. */
export async function assistFile(
  desk: ProjectServices,
  { position, of, ...draft }: Draft & PlaceInCode,
): Promise<Assistance> {
  const { path, content } = draft;
  const files = await filesAround(desk, draft);
  if (!isTypeScript(path) || position > content.sizeBytes) return nothingFound;
  return desk.compiler.assist(files, { path, content: await content.readText(), position, of });
}

/** The saved files, when the draft could be one of them. */
async function filesAround(
  desk: ProjectServices,
  { projectId, path, content }: Draft,
): Promise<ProjectFiles> {
  await requireContent(path, content);
  const { files: treeId } = await desk.repositories.read(projectId, async (repository, state) => {
    await requirePlace(repository, state, path);
    return state;
  });
  return createProjectFiles(projectId, treeId, (work) => desk.repositories.read(projectId, work));
}
