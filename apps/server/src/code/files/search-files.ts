import type { GitObjects } from '../git/git-objects.ts';
import { GitFailure, runGit } from '../git/git-process.ts';
import type { SavedState } from '../projects/saved-state.ts';

const maxMatches = 1_000;
const maxMatchesPerFile = 20;
const maxLineLength = 300;
const maxBytes = 4 * 1024 * 1024;

interface Match {
  path: string;
  line: number;
  text: string;
}

/** Finds lines of the saved files that contain a text. Git reads the files, in its own confined process. */
export async function searchFiles(
  { git, gitDir }: Pick<GitObjects, 'git' | 'gitDir'>,
  { files }: SavedState,
  text: string,
): Promise<{ matches: Match[]; truncated: boolean }> {
  if (files === undefined) return { matches: [], truncated: false };
  const how = ['-F', '-i', '-I', '-n', '--null', '--full-name', '--threads=1', `-m${maxMatchesPerFile}`];
  const { stdout, isCut } = await runGit(git, ['grep', ...how, '-e', text, files], {
    gitDir,
    maxBytes,
    timeoutMs: 20_000,
  }).catch((error: unknown) => {
    // Git exits with code 1 when nothing matches.
    if (error instanceof GitFailure && error.exitCode === 1) return { stdout: Buffer.alloc(0), isCut: false };
    throw error;
  });
  const found = readMatches(stdout.toString(), files);
  return { matches: found.slice(0, maxMatches), truncated: isCut || found.length > maxMatches };
}

/** Parses lines such as `tree:main.ts\0` `12\0` `const x = 1;`. */
function readMatches(output: string, treeId: string): Match[] {
  return output.split('\n').flatMap((row) => {
    const [place, line, ...rest] = row.split('\0');
    if (place === undefined || line === undefined || rest.length === 0) return [];
    const path = place.slice(treeId.length + 1);
    return [{ path, line: Number(line), text: rest.join('\0').slice(0, maxLineLength) }];
  });
}
