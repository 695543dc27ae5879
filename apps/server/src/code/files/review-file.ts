import { errorLine } from '../compile/error-lines.ts';
import type { ProjectFiles } from '../compile/project-mirror.ts';
import { findCompiledPath, isDeclaration, isTypeScript } from '../compile/source-paths.ts';
import type { GitObjects } from '../git/git-objects.ts';
import { listDifferences } from '../git/tree-paths.ts';
import { findMasksProblem, masksPath, maxMasksBytes } from './masks.ts';
import { maxSchemaBytes, parametersSchemaPath } from './parameters-schema.ts';
import { type ProjectServices, createProjectFiles } from '../projects/project-files.ts';
import type { PlaceInCode } from '../compile/compiler.ts';
import { nothingFound, type Assistance } from '../compile/process/messages.ts';
import { type NewContent, requireContent } from './new-content.ts';
import { requirePlace } from './file-path.ts';

/** Maximum size of a reviewed file. Larger files that are not compiled are data, whose review is not worth the wait. */
const maxReviewedBytes = 1024 * 1024;
/** Maximum sizes of files that the service itself reads. */
const maxBytes: Readonly<Record<string, number>> = {
  [parametersSchemaPath]: maxSchemaBytes,
  [masksPath]: maxMasksBytes,
};

/** Error number for unusable settings. Schemas and masks use it too, because the checker has no number for them. */
const unusable = 5024;

/** Maximum number of files reviewed at once, because each review takes compiler time. */
export const maxReviewedFiles = 100;

interface Reviewed {
  path: string;
  content: Pick<NewContent, 'sizeBytes' | 'readText'>;
}

/**
 * Reviews the changed files like `reviewFile`, in the project after the change. Skips sources, which the compiler has
 * already checked.
 */
export async function reviewFiles(
  projectServices: ProjectServices,
  files: ProjectFiles,
  changed: readonly Reviewed[],
): Promise<string[]> {
  const warnings = new Set<string>();
  for (const file of changed.filter(({ path }) => isReviewed(path)).slice(0, maxReviewedFiles))
    for (const line of await reviewFile(projectServices, files, file)) warnings.add(line);
  return [...warnings];
}

/** Lists the errors in a file that is not compiled, and in files that depend on it. */
export async function reviewFile(
  { compiler, parameters }: ProjectServices,
  files: ProjectFiles,
  { path, content }: Reviewed,
): Promise<string[]> {
  if (!isSeenByCompiler(path)) return [];
  const limit = maxBytes[path] ?? Infinity;
  if (content.sizeBytes > limit)
    return [
      errorLine(path, undefined, unusable, `it has ${content.sizeBytes} bytes; at most ${limit} are allowed`),
    ];
  if (content.sizeBytes > maxReviewedBytes) return [];
  const text = await content.readText();
  const result = await compiler.compileFile(files, { path, content: text });
  const warnings = result.ok ? result.warnings : result.errors;
  if (warnings.length > 0) return warnings;
  const problem =
    path === parametersSchemaPath
      ? await parameters.findSchemaProblem(text)
      : path === masksPath
        ? findMasksProblem(text)
        : undefined;
  return problem === undefined ? [] : [errorLine(path, undefined, unusable, problem)];
}

const isSeenByCompiler = (path: string): boolean =>
  isDeclaration(path) || /\.(?:[mc]?[jt]s|[jt]sx|json)$/.test(path);

/** Whether `reviewFiles` reviews the file. */
export const isReviewed = (path: string): boolean =>
  isSeenByCompiler(path) && findCompiledPath(path) === undefined;

/** Whether two trees differ in a file that the compiler reads. */
export async function mayCompileOtherwise(
  repository: GitObjects,
  before: string | undefined,
  after: string | undefined,
): Promise<boolean> {
  return (await listDifferences(repository, before, after)).keys().some(isSeenByCompiler);
}

interface Findings {
  /** Errors that would prevent saving the file. */
  errors: string[];
  /** Errors that would not prevent saving the file. */
  warnings: string[];
}

interface Draft {
  projectId: string;
  path: string;
  content: NewContent;
}

/** Returns the errors and warnings that writing this content would report. Changes nothing. */
export async function checkFile(projectServices: ProjectServices, draft: Draft): Promise<Findings> {
  const { path, content } = draft;
  const files = await filesAround(projectServices, draft);
  if (findCompiledPath(path) === undefined)
    return { errors: [], warnings: await reviewFile(projectServices, files, { path, content }) };
  const result = await projectServices.compiler.compileFile(files, {
    path,
    content: await content.readText(),
  });
  return result.ok ? { errors: [], warnings: result.warnings } : { errors: result.errors, warnings: [] };
}

/** Describes the symbol, completions or references at a position of a file, as if the file were saved. */
export async function assistFile(
  projectServices: ProjectServices,
  { position, of, ...draft }: Draft & PlaceInCode,
): Promise<Assistance> {
  const { path, content } = draft;
  const files = await filesAround(projectServices, draft);
  if (!isTypeScript(path) || position > content.sizeBytes) return nothingFound;
  return projectServices.compiler.assist(files, { path, content: await content.readText(), position, of });
}

/** Returns the saved files of the project. Throws when the draft could not be saved among them. */
async function filesAround(
  projectServices: ProjectServices,
  { projectId, path, content }: Draft,
): Promise<ProjectFiles> {
  await requireContent(path, content);
  const { files: treeId } = await projectServices.repositories.read(projectId, async (repository, state) => {
    await requirePlace(repository, state, path);
    return state;
  });
  return createProjectFiles(projectId, treeId, (work) => projectServices.repositories.read(projectId, work));
}
