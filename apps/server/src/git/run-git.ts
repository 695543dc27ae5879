import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

import { giveWayByLength } from '../limits/priority.ts';
import type { GitProgram } from './git-program.ts';
import { findSystemError, neverBegan, notStarted } from './git-trouble.ts';

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
  const start = git.start(args, run.gitDir);
  const child = spawn(start.program, start.args, {
    env: {
      ...git.environment,
      ...(run.gitDir === undefined ? {} : { GIT_DIR: run.gitDir }),
      ...run.environment,
    },
    cwd: git.stagingFolder,
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: run.timeoutMs ?? 60_000,
    killSignal: 'SIGKILL',
    ...(run.signal === undefined ? {} : { signal: run.signal }),
  });
  giveWayByLength(child, run.fileBytes);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', (error) => reject(child.pid === undefined ? notStarted(git, error) : error));
    child.once('close', resolve);
  });
  // Without a process there may be no streams either.
  if (child.pid === undefined) await ended;
  // Git may end without reading its input; its exit code tells then.
  child.stdin.on('error', () => undefined);
  child.stdin.end(run.input ?? '');
  const output = collect(child.stdout, run.maxBytes ?? Infinity, () => child.kill('SIGKILL'));
  const [exitCode, stderr, { stdout, isCut }] = await Promise.all([ended, text(child.stderr), output]);
  if (exitCode !== 0 && !isCut) throw neverBegan(git, stderr) ?? new GitFailure(args, exitCode, stderr);
  return { stdout, isCut };
}

async function collect(
  stream: AsyncIterable<Buffer>,
  maxBytes: number,
  stop: () => void,
): Promise<GitOutput> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    if (length < maxBytes) chunks.push(chunk.subarray(0, maxBytes - length));
    length += chunk.length;
    if (length > maxBytes) stop();
  }
  return { stdout: Buffer.concat(chunks), isCut: length > maxBytes };
}
