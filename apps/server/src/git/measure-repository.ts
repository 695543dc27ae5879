import type { GitProgram } from './git-program.ts';
import { runGit } from './run-git.ts';

/** Bytes of all objects of a repository, packed or loose. */
export async function measureRepository(git: GitProgram, gitDir: string): Promise<number> {
  const { stdout } = await runGit(git, ['count-objects', '-v'], { gitDir });
  const sizes = stdout.toString().matchAll(/^(?:size|size-pack|size-garbage): (\d+)$/gm);
  return [...sizes].reduce((sum, [, kibibytes]) => sum + 1024 * Number(kibibytes), 0);
}
