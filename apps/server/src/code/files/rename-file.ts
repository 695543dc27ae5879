import { isTypeScript } from '../compile/source-paths.ts';
import { listSizedFiles, type SizedFile } from '../git/tree-paths.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import type { ProjectServices } from '../projects/project-files.ts';
import { type NewContent, contentOf } from './new-content.ts';
import { findSourceOf, refusePath } from './file-path.ts';
import { treeTag } from './file-version.ts';
import { renameImports } from '../compile/process/import-graph.ts';
import { replaceFiles } from './replace-files.ts';

interface Renaming {
  readonly projectId: string;
  readonly from: string;
  readonly to: string;
}

interface Before {
  readonly files: ReadonlyMap<string, SizedFile>;
  /** ETag of all files together. */
  readonly etag: string;
}

/** Maximum size of a code file whose imports are rewritten. Hand-written files are smaller. */
const maxCodeBytes = 1024 * 1024;

/** Renames a file and rewrites its imports in other files, all or nothing. `changed` lists those other files. */
export async function renameFile(
  projectServices: ProjectServices,
  renaming: Renaming,
): Promise<{ etag: string; changed: string[]; warnings: string[] }> {
  const { projectId, from, to } = renaming;
  const before = await readBefore(projectServices, renaming);
  const texts = await readCode(projectServices, projectId, before);
  const files = changesOf(texts, renaming).map(([path, text]) => ({
    path,
    content: contentOf(text, undefined),
  }));
  if (!files.some(({ path }) => path === to))
    files.push({ path: to, content: keptContent(projectServices, projectId, before.files.get(from)) });
  const change = { projectId, files, deleted: [from], expected: before.etag };
  const replaced = await replaceFiles(projectServices, change);
  return { ...replaced, changed: files.map(({ path }) => path).filter((path) => path !== to) };
}

const readBefore = (projectServices: ProjectServices, { projectId, from, to }: Renaming): Promise<Before> =>
  projectServices.repositories.read(projectId, async (repository, state) => {
    const listed = await listSizedFiles(repository, state.files);
    const files = new Map(listed.map((file) => [file.path, file]));
    const source = await findSourceOf(repository, state, from);
    if (source !== undefined) throw ApiError.of('compiled_file', { path: from, source });
    if (!files.has(from)) throw ApiError.of('file_not_found', { path: from, project_id: projectId });
    if (files.has(to)) throw refusePath(to, 'is the path of another file');
    return { files, etag: treeTag(state.files) };
  });

/**
 * Reads the text of every file, by path. The text is empty for files without code and for code above `maxCodeBytes`.
 */
async function readCode(
  { repositories }: ProjectServices,
  projectId: string,
  { files }: Before,
): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (const { path, id, sizeBytes } of files.values()) {
    const isCode = (isTypeScript(path) || /\.[mc]?jsx?$/.test(path)) && sizeBytes <= maxCodeBytes;
    const read = () => repositories.read(projectId, (repository) => repository.readBlob(id));
    texts.set(path, isCode ? (await read()).toString() : '');
  }
  return texts;
}

/** Lists the files whose text changes, under their new paths. */
function changesOf(
  texts: ReadonlyMap<string, string>,
  { from, to }: Renaming,
): [path: string, text: string][] {
  const sources = { has: (path: string) => texts.has(path), findText: (path: string) => texts.get(path) };
  return [...texts].flatMap(([path, text]): [string, string][] => {
    const renamed = renameImports(sources, path, { from, to });
    return renamed === text ? [] : [[path === from ? to : path, renamed]];
  });
}

function keptContent(
  { repositories }: ProjectServices,
  projectId: string,
  { id = '', sizeBytes = 0 }: Partial<SizedFile> = {},
): NewContent {
  return {
    sizeBytes,
    readText: async () =>
      (await repositories.read(projectId, (repository) => repository.readBlob(id))).toString(),
    store: async () => id,
  };
}
