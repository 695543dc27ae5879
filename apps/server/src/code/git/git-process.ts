import { existsSync } from 'node:fs';
import { type StartedProcess, startProcess, type Start } from '@phalanx/confinement';
import { runToEnd } from '../../kernel/processes/run-to-end.ts';
import { folderMissing, gitFailed, PartFailed } from '../../kernel/faults/fault-monitor.ts';

/** Git's messages for errors of the operating system. Git runs in the C locale. */
const systemErrors: readonly [RegExp, string][] = [
  [/No space left on device/, 'ENOSPC'],
  [/Disk quota exceeded/, 'EDQUOT'],
  [/Read-only file system/, 'EROFS'],
  [/Input\/output error/, 'EIO'],
  [/Too many open files/, 'EMFILE'],
];

interface GitRun {
  gitDir?: string;
  environment?: Readonly<Record<string, string>>;
  input?: string;
  /** Maximum size of the output. Output beyond it is cut off, and git is killed. */
  maxBytes?: number;
  timeoutMs?: number;
  signal?: AbortSignal;
}

interface GitOutput {
  stdout: Buffer;
  isCut: boolean;
}

/** Error of a failed git command. The message quotes git's own output, which must not reach callers. */
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

/** Runs one git command to its end. Throws `GitFailure` unless it succeeds, and `PartFailed` when git can't start. */
export async function runGit(git: GitProgram, args: readonly string[], run: GitRun): Promise<GitOutput> {
  const { gitDir, input, maxBytes, timeoutMs = 60_000, signal } = run;
  const environment = { ...(gitDir === undefined ? {} : { GIT_DIR: gitDir }), ...run.environment };
  const child = await startGit(git, args, { gitDir, environment });
  const { exitCode, stderr, stdout, isCut } = await runToEnd(child, { input, maxBytes, timeoutMs, signal });
  if (exitCode !== 0 && !isCut) throw neverBegan(git, stderr) ?? new GitFailure(args, exitCode, stderr);
  return { stdout, isCut };
}

/** Returns the operating system error that git reports as the reason for its failure. */
export function findSystemError(stderr: string): NodeJS.ErrnoException | undefined {
  const code = systemErrors.find(([words]) => words.test(stderr))?.[1];
  return code === undefined ? undefined : Object.assign(new Error('git says so'), { code });
}

/** Returns why git could not be started: its working folder is missing, or git itself fails. */
function notStarted(git: GitProgram, error: unknown): PartFailed {
  return existsSync(git.stagingFolder) ? gitFailed(error) : new PartFailed(folderMissing, { cause: error });
}

/** Returns the failure if the launcher (packages/confinement) reports that it can't start git. */
export function neverBegan(git: GitProgram, stderr: string): PartFailed | undefined {
  if (!stderr.startsWith("confine: can't execute")) return undefined;
  return notStarted(git, Object.assign(new Error(stderr), { code: 'ENOENT' }));
}

interface GitStart {
  readonly gitDir: string | undefined;
  /** Environment variables in addition to those of the program. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  readonly limits?: { readonly maxCpuSeconds: number } | undefined;
  readonly streamCount?: number;
}

/** Starts a git command. Throws `PartFailed` when it can't be started. */
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

/** Git of this machine, isolated from every configuration except the service's. */
export interface GitProgram {
  readonly environment: Readonly<Record<string, string>>;
  /** Folder for data that is not in a repository yet, or no longer. Emptied at every start. */
  readonly stagingFolder: string;
  /**
   * Returns the program to start for a git command. The command can access only this repository and the staging folder.
   */
  start(args: readonly string[], gitDir: string | undefined, limits?: { maxCpuSeconds: number }): Start;
  /** Reason why the operating system does not confine git. Undefined when it does. */
  readonly unconfinedBecause: string | undefined;
}

/** Maximum size of the pack of a push. */
export const maxPushBytes = 512 * 1024 * 1024;
