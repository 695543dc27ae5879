import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import { requirePath } from '../../code/files/file-path.ts';
import { contentOf } from '../../code/files/new-content.ts';
import { buildNext, filesOfNext, requireChange } from '../../code/files/replace-files.ts';
import type { SavedFiles, ProjectServices } from '../../code/projects/project-files.ts';
import { emptyTree } from '../../code/projects/saved-state.ts';

/** Unsaved files, and the tree to which they are applied. */
export interface DraftText {
  treeId: string;
  files: { path: string; content: string }[];
  deleted: string[];
}

export type DraftDesk = Pick<ProjectServices, 'repositories' | 'totals'>;

/** Creates a draft. Throws for invalid file paths. */
export const draftOf = (
  treeId: string,
  { files = [], deleted = [] }: { files: DraftText['files'] | undefined; deleted: string[] | undefined },
): DraftText => ({
  treeId,
  files: files.map(({ path, content }) => ({ path: requirePath(path), content })),
  deleted: deleted.map(requirePath),
});

/** Applies unsaved files as a save would, without storing anything. Throws the errors of a save. */
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
/** Maximum size of an unpacked draft in bytes, larger than the largest request needs. */
const maxBytes = 16 * 1024 * 1024;

export const packDraft = (draft: DraftText): Promise<Buffer> => compress(Buffer.from(JSON.stringify(draft)));

export async function unpackDraft(packed: Buffer): Promise<DraftText> {
  const json = (await decompress(packed, { maxOutputLength: maxBytes })).toString();
  // `packDraft` alone creates drafts.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return JSON.parse(json) as DraftText;
}
