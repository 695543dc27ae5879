import { giveWayByLength } from '../limits/priority.ts';
import { runToEnd } from '../processes/run-to-end.ts';
import type { GitProgram } from './git-program.ts';
import { findSystemError, neverBegan } from './git-trouble.ts';
import { startGit } from './start-git.ts';

interface GitRun {
  gitDir?: string;
  environment?: Readonly<Record<string, string>>;
  input?: string;
  /** Of a file that it reads. */
  fileBytes?: number;
  /** What goes beyond is cut off, and git is ended. */
  maxBytes?: number;
  timeoutMs?: number;
  signal?: AbortSignal;
}

export interface GitOutput {
  stdout: Buffer;
  isCut: boolean;
}

/** Git ended with a failure; the message has its own words, which are not for callers. */
export class GitFailure extends Error {
  override readonly name = 'GitFailure';
  readonly exitCode: number | null;

  constructor(args: readonly string[], exitCode: number | null, stderr: string) {
    super(`git ${args[0] ?? ''} ended with ${exitCode ?? 'a signal'}: ${stderr.slice(0, 2000)}`, {
      cause: findSystemError(stderr),
    });
    this.exitCode = exitCode;
  }
}

/** Runs one git command to its end. Throws `GitFailure` unless it succeeds, and `PartFailed` when git can't be started. */
export async function runGit(git: GitProgram, args: readonly string[], run: GitRun): Promise<GitOutput> {
  const { gitDir, input, fileBytes, maxBytes, timeoutMs = 60_000, signal } = run;
  const environment = { ...(gitDir === undefined ? {} : { GIT_DIR: gitDir }), ...run.environment };
  const child = await startGit(git, args, { gitDir, environment });
  giveWayByLength(child, fileBytes);
  const { exitCode, stderr, stdout, isCut } = await runToEnd(child, { input, maxBytes, timeoutMs, signal });
  if (exitCode !== 0 && !isCut) throw neverBegan(git, stderr) ?? new GitFailure(args, exitCode, stderr);
  return { stdout, isCut };
}
