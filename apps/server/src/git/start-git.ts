import { startProcess, type StartedProcess } from '@phalanx/confinement';

import type { GitProgram } from './git-program.ts';
import { notStarted } from './git-trouble.ts';

interface GitStart {
  readonly gitDir: string | undefined;
  /** Beside that of the program. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  readonly limits?: { readonly maxCpuSeconds: number } | undefined;
  readonly streamCount?: number;
}

/** Begins a git command. Throws `PartFailed` when it can't be started. */
export async function startGit(
  git: GitProgram,
  args: readonly string[],
  { gitDir, environment, limits, streamCount = 3 }: GitStart,
): Promise<StartedProcess> {
  const options = {
    environment: { ...git.environment, ...environment },
    folder: git.stagingFolder,
    streamCount,
  };
  return startProcess(git.start(args, gitDir, limits), options).catch((error: unknown) => {
    throw notStarted(git, error);
  });
}
