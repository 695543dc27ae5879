import type { GitObjects } from './git-objects.ts';
import { runGit } from './run-git.ts';

export interface SizedFile {
  readonly mode: string;
  readonly path: string;
  readonly id: string;
  /** 0 for what is not a file of this repository, such as a submodule. */
  readonly sizeBytes: number;
}

function parseLine(line: string): SizedFile {
  const tab = line.indexOf('\t');
  const [mode = '', , id = '', size = ''] = line.slice(0, tab).split(/ +/);
  return { mode, id, sizeBytes: Number(size) || 0, path: line.slice(tab + 1) };
}

/** Every file below a tree, with its size; `environment` as for the repository. */
export async function listSizedFiles(
  repository: Pick<GitObjects, 'git' | 'gitDir'>,
  treeId: string | undefined,
  environment: Readonly<Record<string, string>> = {},
): Promise<SizedFile[]> {
  if (treeId === undefined) return [];
  const args = ['ls-tree', '-r', '-l', '-z', '--full-tree', treeId];
  const { stdout } = await runGit(repository.git, args, { gitDir: repository.gitDir, environment });
  return stdout.toString().split('\0').slice(0, -1).map(parseLine);
}
