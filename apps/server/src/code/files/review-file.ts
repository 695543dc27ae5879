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

/** Of files that are not compiled, larger ones are data: nobody waits for a look at them. */
const maxReviewedBytes = 1024 * 1024;
/** Of files that the service itself reads. */
const maxBytes: Readonly<Record<string, number>> = {
  [parametersSchemaPath]: maxSchemaBytes,
  [masksPath]: maxMasksBytes,
};

/** The checker has no number for a schema or masks; this is the one of settings that can't be used. */
const unusable = 5024;

/** Each look at a file takes a moment of the compiler. */
export const maxReviewedFiles = 100;

interface Reviewed {
  path: string;
  content: Pick<NewContent, 'sizeBytes' | 'readText'>;
}

/** The same for many files, in the project as it is to be; of those that are compiled, the compiler has told. */
export async function reviewFiles(
  desk: ProjectServices,
  files: ProjectFiles,
  changed: readonly Reviewed[],
): Promise<string[]> {
  const warnings = new Set<string>();
  for (const file of changed.filter(({ path }) => isReviewed(path)).slice(0, maxReviewedFiles))
    for (const line of await reviewFile(desk, files, file)) warnings.add(line);
  return [...warnings];
}

/** What is wrong with a file that is not compiled, and with those that use it. */
export async function reviewFile(
  { compiler, parameters }: ProjectServices,
  files: ProjectFiles,
  { path, content }: Reviewed,
): Promise<string[]> {
  if (!isSeenByCompiler(path)) return [];
  const most = maxBytes[path] ?? Infinity;
  if (content.sizeBytes > most)
    return [
      errorLine(path, undefined, unusable, `it has ${content.sizeBytes} bytes, and at most ${most} are read`),
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

/** Whether `reviewFiles` looks at it. */
export const isReviewed = (path: string): boolean =>
  isSeenByCompiler(path) && findCompiledPath(path) === undefined;

/** Whether something differs between two trees that a compiler looks at. */
export async function mayCompileOtherwise(
  repository: GitObjects,
  before: string | undefined,
  after: string | undefined,
): Promise<boolean> {
  return (await listDifferences(repository, before, after)).keys().some(isSeenByCompiler);
}

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
