import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import { requirePath } from '../../code/files/file-path.ts';
import { contentOf } from '../../code/files/new-content.ts';
import { buildNext, filesOfNext, requireChange } from '../../code/files/replace-files.ts';
import type { SavedFiles, ProjectServices } from '../../code/projects/project-files.ts';
import { emptyTree } from '../../code/projects/saved-state.ts';

/** Unsaved text, and the tree that it is laid over. */
export interface DraftText {
  treeId: string;
  files: { path: string; content: string }[];
  deleted: string[];
}

export type DraftDesk = Pick<ProjectServices, 'repositories' | 'totals'>;

/** Throws for paths that no file may have. */
export const draftOf = (
  treeId: string,
  { files = [], deleted = [] }: { files: DraftText['files'] | undefined; deleted: string[] | undefined },
): DraftText => ({
  treeId,
  files: files.map(({ path, content }) => ({ path: requirePath(path), content })),
  deleted: deleted.map(requirePath),
});

/** Lays unsaved text over the files as a save would; nothing is stored. Throws what a save throws. */
export async function layDraft(
  projectServices: DraftDesk,
  projectId: string,
  { treeId, files, deleted }: DraftText,
): Promise<SavedFiles> {
  const contents = files.map(({ path, content }) => ({ path, content: contentOf(content, undefined) }));
  const change = { projectId, files: contents, deleted };
  await requireChange(change);
  const next = await projectServices.repositories.read(projectId, (repository, state) =>
    buildNext(projectServices, {
      repository,
      change,
      state: { ...state, files: treeId === emptyTree ? undefined : treeId },
    }),
  );
  return filesOfNext(projectServices, projectId, next);
}

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);
/** Maximum size of an unpacked draft, which is more than the largest request needs. */
const maxBytes = 16 * 1024 * 1024;

export const packDraft = (draft: DraftText): Promise<Buffer> => compress(Buffer.from(JSON.stringify(draft)));

export async function unpackDraft(packed: Buffer): Promise<DraftText> {
  const json = (await decompress(packed, { maxOutputLength: maxBytes })).toString();
  // Drafts are made by `packDraft` alone.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return JSON.parse(json) as DraftText;
}
