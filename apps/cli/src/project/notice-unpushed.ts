import { notice } from '../output/notice.ts';
import { defaultConfigText } from '../types/write-types.ts';
import { contentVersion, readBase } from './base-files.ts';
import type { LinkedFolder } from './link.ts';
import { listLocalFiles } from './list-local-files.ts';
import { LocalPathError } from './local-path.ts';
import { readLocalFile } from './read-local-file.ts';

/** Tells people that what they are about to run or to commit is not what they see in their folder. */
export async function noticeUnpushed({ root }: LinkedFolder): Promise<void> {
  const base = await readBase(root);
  const { paths } = await listLocalFiles(root, base.keys());
  let count = [...base.keys()].filter((file) => !paths.includes(file)).length;
  for (const file of paths) {
    const hash = await hashOf(root, file);
    const isOurOwn = file === 'tsconfig.json' && hash === contentVersion(defaultConfigText);
    if (hash !== base.get(file) && !isOurOwn) count += 1;
  }
  if (count === 0) return;
  const files = count === 1 ? 'One file of this folder is' : `${count} files of this folder are`;
  notice(`${files} not on the server as here: "phalanx project push" sends what was changed.`);
}

const hashOf = (root: string, file: string): Promise<string | undefined> =>
  readLocalFile(root, file).then(contentVersion, (error: unknown) => {
    if (error instanceof LocalPathError) return undefined;
    throw error;
  });
