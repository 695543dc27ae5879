import { requireCompiled } from '../compile/compiler.ts';
import { findCompiledPath } from '../compile/source-paths.ts';
import { type Draft, NewObjects } from '../git/draft.ts';
import { type GitObjects, fileMode } from '../git/git-objects.ts';
import { findAt, withEntry } from '../git/tree-paths.ts';
import type { Change, SavedState } from '../projects/saved-state.ts';
import { type ProjectServices, createProjectFiles } from '../projects/project-files.ts';
import { type NewContent, requireContent } from './new-content.ts';
import { requirePlace } from './file-path.ts';
import { requireVersion, type Precondition } from './file-version.ts';
import { mayCompileOtherwise, reviewFile } from './review-file.ts';

export interface FileWrite {
  readonly projectId: string;
  readonly path: string;
  readonly content: NewContent;
  readonly precondition: Precondition;
}

interface Written {
  /** Git hash of the new content. */
  id: string;
  compiledPath: string;
  compiled: boolean;
  /** Errors in files that depend on this one, and errors in this file that do not prevent saving it. */
  warnings: string[];
}

interface Compiled {
  /** Compiled code. Undefined for a file that is not compiled. */
  js: string | undefined;
  warnings: string[];
}

/** Saves a file and its compiled file in one change. The change is durable when the promise resolves. */
export async function writeFile(projectServices: ProjectServices, write: FileWrite): Promise<Written> {
  const { projectId, path, content, precondition } = write;
  await requireContent(path, content);
  // Compiles before the lock is taken, so that the slowest step does not block other writers. Compiles again under the
  // lock only when another write has changed what the file is checked against.
  const seen = await projectServices.repositories.read(projectId, async (repository, state) => {
    await requireVersion(repository, { state, path, precondition });
    await requirePlace(repository, state, path);
    return state;
  });
  const compiled = await compile(projectServices, write, seen);
  await projectServices.sizes.add(projectId, content.sizeBytes + Buffer.byteLength(compiled.js ?? ''));
  const objects = new NewObjects();
  const id = await content.store(objects);
  const attempt = async (draft: Draft, change: Change): Promise<Written> => {
    const { state } = change;
    await requireVersion(draft, { state, path, precondition });
    await requirePlace(draft, state, path);
    const isStale = compiled.js !== undefined && (await mayCompileOtherwise(draft, seen.files, state.files));
    const { js, warnings } = isStale ? await compile(projectServices, write, state) : compiled;
    await save(projectServices, { ...write, draft, change, id, js });
    return { id, compiledPath: findCompiledPath(path) ?? path, compiled: js !== undefined, warnings };
  };
  return projectServices.repositories.write(projectId, attempt, { objects });
}

/** Compiles a source, or reviews another file. Throws `compile_failed` for a source with an error. */
async function compile(
  projectServices: ProjectServices,
  write: FileWrite,
  state: SavedState,
): Promise<Compiled> {
  const { projectId, path, content } = write;
  const files = createProjectFiles(projectId, state.files, (work) =>
    projectServices.repositories.read(projectId, work),
  );
  if (findCompiledPath(path) === undefined)
    return { js: undefined, warnings: await reviewFile(projectServices, files, write) };
  return requireCompiled(
    await projectServices.compiler.compileFile(files, { path, content: await content.readText() }),
  );
}

interface Saving {
  draft: Draft;
  change: Change;
  /** Git hash of the new content. */
  id: string;
  js: string | undefined;
}

async function save(
  { totals }: ProjectServices,
  { path, content, draft, change, id, js }: FileWrite & Saving,
): Promise<void> {
  const { state } = change;
  const before = await findFile(draft, state.files, path);
  const compiledPath = js === undefined ? undefined : findCompiledPath(path);
  const next = await totals.requireRoom(draft, state.files, {
    files: before === undefined ? 1 : 0,
    bytes: content.sizeBytes - (before?.sizeBytes ?? 0),
  });
  const entry = { mode: before?.mode ?? fileMode, id };
  const files = await withEntry(draft, state.files, path, entry);
  let { compiled } = state;
  if (compiledPath !== undefined && js !== undefined) {
    const output = { mode: fileMode, id: draft.writeBlob(js) };
    compiled = await withEntry(draft, compiled, compiledPath, output);
  }
  change.save({ files, compiled, head: state.head });
  totals.remember(files, next);
}

/** Finds the file at `path`, with its size. */
export async function findFile(
  repository: GitObjects,
  treeId: string | undefined,
  path: string,
): Promise<{ mode: string; sizeBytes: number } | undefined> {
  const found = await findAt(repository, treeId, path);
  if (found.kind !== 'file') return undefined;
  const info = await repository.findInfo(found.entry.id);
  return { mode: found.entry.mode, sizeBytes: info?.sizeBytes ?? 0 };
}
