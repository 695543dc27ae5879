import type { FileDiff } from '@phalanx/protocol';
import { changeOf } from '../files/read-files.ts';
import { type GitObjects, isAncestor } from '../git/git-objects.ts';
import { runGit } from '../git/run-git.ts';
import { listDifferences } from '../git/tree-paths.ts';
import { emptyTree, findTreeOf, type SavedState } from '../projects/saved-state.ts';

/** Text of all files together; what goes beyond is left out. */
const maxReplyBytes = 4 * 1024 * 1024;
/** Larger files are not compared line by line. */
const maxFileSize = '1m';

interface Diff {
  base: string | null;
  files: FileDiff[];
  truncated: boolean;
}

/** What has changed between the newest commit and the saved files. */
export async function diffSavedFiles(repository: GitObjects, { head, files }: SavedState): Promise<Diff> {
  return diffTrees(repository, { base: head, after: files });
}

/** What a commit of the history changed; undefined when the history has no such commit. */
export async function diffCommit(
  repository: GitObjects,
  { head }: SavedState,
  commit: string,
): Promise<Diff | undefined> {
  if (!(await isAncestor(repository, { older: commit, newer: head }))) return undefined;
  const before = await repository.findInfo(`${commit}~1`);
  return diffTrees(repository, { base: before?.id, after: await findTreeOf(repository, commit) });
}

interface Trees {
  /** The commit before. */
  base: string | undefined;
  after: string | undefined;
}

async function diffTrees(repository: GitObjects, { base, after }: Trees): Promise<Diff> {
  const before = await findTreeOf(repository, base);
  const differences = await listDifferences(repository, before, after);
  if (differences.size === 0) return { base: base ?? null, files: [], truncated: false };
  const { texts, isCut } = await readTexts(repository, before ?? emptyTree, after ?? emptyTree);
  const listed = Array.from(differences, ([path, difference]) => ({
    path,
    change: changeOf(difference),
    diff: texts.get(path) ?? null,
  }));
  listed.sort((one, other) => (one.path < other.path ? -1 : 1));
  return { base: base ?? null, files: listed, truncated: isCut };
}

async function readTexts(
  repository: GitObjects,
  before: string,
  after: string,
): Promise<{ texts: Map<string, string>; isCut: boolean }> {
  const { stdout, isCut } = await runGit(
    repository.git,
    [
      '-c',
      `core.bigFileThreshold=${maxFileSize}`,
      'diff-tree',
      '-r',
      '-z',
      '--raw',
      '-p',
      '--no-renames',
      '--no-ext-diff',
      '--no-textconv',
      before,
      after,
    ],
    { gitDir: repository.gitDir, maxBytes: maxReplyBytes, timeoutMs: 20_000 },
  );
  return { texts: splitTexts(stdout.toString(), isCut), isCut };
}

/** First come the paths (`:modes ids status\0path\0`…), an empty one, then the texts in the same order. */
function splitTexts(output: string, isCut: boolean): Map<string, string> {
  const end = output.indexOf('\0\0');
  if (end === -1) return new Map();
  const paths = output
    .slice(0, end)
    .split('\0')
    .filter((_, index) => index % 2 === 1);
  const texts = output.slice(end + 2).split(/^(?=diff --git )/m);
  // The last one may be half a text.
  const whole = isCut ? texts.slice(0, -1) : texts;
  const found = new Map<string, string>();
  for (const [index, text] of whole.entries()) {
    const path = paths[index];
    if (path !== undefined && !/^Binary files .* differ$/m.test(text)) found.set(path, text);
  }
  return found;
}
