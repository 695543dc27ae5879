import path from 'node:path';

import type { ApiClient } from '../api-client.ts';
import { CommandError, exitCodes, usageError } from '../exit-codes.ts';
import { notice } from '../output/notice.ts';
import { printableLine } from '../output/printable.ts';
import { findLinkedFolder } from './link.ts';
import { findKind } from './local-path.ts';
import { planPush } from './push.ts';

export interface FolderDraft {
  files: { path: string; content: string }[];
  deleted: string[];
}

/** What a push of the folder would change, with what is here where both sides were changed. */
export async function readDraft(
  api: ApiClient,
  { id, dir }: { id: string; dir: string | undefined },
): Promise<FolderDraft> {
  const start = path.resolve(dir ?? '.');
  if ((await findKind(start)) !== 'folder')
    throw usageError(`${start} is no folder: name the one with your code.`);
  const linked = await findLinkedFolder(start);
  if (linked !== undefined && linked.id !== id)
    throw usageError(`${linked.root} is the folder of another project: name that one, or another folder.`);
  const root = linked?.root ?? start;
  const { changed, gone, failed } = await planPush(api, { root, id, server_url: '' }, true);
  for (const { path: file, reason } of failed)
    notice(`Not in the draft: ${printableLine(file)}\n  ${reason}`);
  if (failed.length > 0)
    throw new CommandError(exitCodes.refused, 'Nothing was replayed: correct or ignore these files.');
  if (changed.size + gone.length === 0) notice('The folder is as the server has it.');
  return { files: Array.from(changed, ([file, content]) => ({ path: file, content })), deleted: gone };
}
