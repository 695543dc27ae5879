import { existsSync } from 'node:fs';

import {
  whenClosed,
  type StartedProcess,
  startProcess,
  type Start,
  giveWayByLength,
} from '@phalanx/confinement';

import { runToEnd } from '../../kernel/processes/run-to-end.ts';
import { folderMissing, gitFailed, PartFailed } from '../../kernel/faults/fault-monitor.ts';

/** Git's words for what the operating system told it; it is run in the C locale. */
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
  /** Of a file that it reads. */
  fileBytes?: number;
  /** What goes beyond is cut off, and git is ended. */
  maxBytes?: number;
  timeoutMs?: number;
  signal?: AbortSignal;
}

interface GitOutput {
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

/** The error of the operating system that git names as its reason to fail. */
function findSystemError(stderr: string): NodeJS.ErrnoException | undefined {
  const code = systemErrors.find(([words]) => words.test(stderr))?.[1];
  return code === undefined ? undefined : Object.assign(new Error('git says so'), { code });
}

/** Why git could not be started: its working folder is missing, or it is git itself. */
function notStarted(git: GitProgram, error: unknown): PartFailed {
  return existsSync(git.stagingFolder) ? gitFailed(error) : new PartFailed(folderMissing, { cause: error });
}

/** What the launcher (packages/confinement) says in the place of git when it can't start it. */
function neverBegan(git: GitProgram, stderr: string): PartFailed | undefined {
  if (!stderr.startsWith("confine: can't execute")) return undefined;
  return notStarted(git, Object.assign(new Error(stderr), { code: 'ENOENT' }));
}

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

/** The git of this machine, cut off from every configuration but ours. */
export interface GitProgram {
  readonly environment: Readonly<Record<string, string>>;
  /** For what is not in a repository yet, or no longer; emptied at every start. */
  readonly stagingFolder: string;
  /** What to start for a git command; it reaches this repository and the staging folder, and no others. */
  start(args: readonly string[], gitDir: string | undefined, limits?: { maxCpuSeconds: number }): Start;
  /** Why the operating system does not hold it to that; undefined: it does. */
  readonly unconfinedBecause: string | undefined;
}

/** A push may bring that many bytes, packed. */
export const maxPushBytes = 512 * 1024 * 1024;

/** How a reply is read: yields what it needs next, a line or a number of bytes, and returns what they mean. */
export type Reading<Reply> = Generator<'line' | number, Reply, Buffer>;

/** The process ended before it had answered; whether it has done what was asked is unknown. */
export class BatchProcessEnded extends Error {
  override readonly name = 'BatchProcessEnded';
}

interface Pending {
  reading: Reading<void>;
  wanted: 'line' | number;
  reject: (error: Error) => void;
}

export interface BatchCommand {
  readonly args: readonly string[];
  readonly gitDir: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** A process that owes an answer and says nothing for this long is stuck. */
const stallLimitMs = 60_000;
const stderrLimit = 4096;

/** One git command that is kept open and answers requests in their order. */
export class BatchProcess {
  readonly #git: GitProgram;
  /** Rejects when it can't be started; `#exit` deals with that. */
  readonly #started: Promise<StartedProcess>;
  readonly #bytes = new ByteQueue();
  readonly #pending: Pending[] = [];
  readonly #name: string;
  readonly #exit: Promise<void>;
  #hasEnded = false;
  #stderr = '';
  #startFailure: unknown;
  #stallTimer: NodeJS.Timeout | undefined;

  constructor(git: GitProgram, { args, gitDir, environment }: BatchCommand) {
    this.#git = git;
    this.#name = args[0] ?? 'git';
    this.#started = startGit(git, args, { gitDir, environment: { GIT_DIR: gitDir, ...environment } });
    this.#exit = this.#listen().catch((error: unknown) => {
      this.#startFailure = error;
    });
    void this.#exit.then(() => this.#end());
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  request<Reply>(input: string | Buffer, read: () => Reading<Reply>): Promise<Reply> {
    return new Promise((resolve, reject) => {
      if (this.#hasEnded) {
        reject(this.#ended());
        return;
      }
      const reading = (function* deliver(): Reading<void> {
        resolve(yield* read());
      })();
      const first = reading.next();
      if (first.done === true) return;
      this.#pending.push({ reading, wanted: first.value, reject });
      this.#with(({ streams: [stdin] }) => stdin.write(input));
      this.#watchStall();
    });
  }

  /** Lets it finish what it was asked, and waits for its end. */
  async close(): Promise<void> {
    this.#with(({ streams: [stdin] }) => stdin.end());
    const timer = setTimeout(() => this.kill(), 5000);
    await this.#exit;
    clearTimeout(timer);
  }

  kill(): void {
    this.#with((child) => child.signal('SIGKILL'));
  }

  /** Now, or as soon as it has begun; in order. */
  #with(act: (child: StartedProcess) => unknown): void {
    this.#started.then(act, () => undefined);
  }

  async #listen(): Promise<void> {
    const child = await this.#started;
    const [, stdout, stderr] = child.streams;
    stdout.on('data', (chunk: Buffer) => this.#take(chunk));
    stderr.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-stderrLimit);
    });
    await whenClosed(child);
  }

  #take(chunk: Buffer): void {
    this.#bytes.push(chunk);
    for (let head = this.#pending[0]; head !== undefined; head = this.#pending[0]) {
      const got = head.wanted === 'line' ? this.#bytes.takeLine() : this.#bytes.take(head.wanted);
      if (got === undefined) break;
      this.#advance(head, got);
    }
    this.#watchStall();
  }

  #advance(head: Pending, got: Buffer): void {
    try {
      const next = head.reading.next(got);
      if (next.done === true) this.#pending.shift();
      else head.wanted = next.value;
    } catch (error) {
      this.#pending.shift();
      head.reject(error instanceof Error ? error : new Error('unreadable answer', { cause: error }));
      // What follows can't be told apart any more.
      this.kill();
    }
  }

  #watchStall(): void {
    if (this.#pending.length === 0 || this.#hasEnded) {
      clearTimeout(this.#stallTimer);
      this.#stallTimer = undefined;
    } else if (this.#stallTimer === undefined) {
      this.#stallTimer = setTimeout(() => this.kill(), stallLimitMs).unref();
    } else this.#stallTimer.refresh();
  }

  #end(): void {
    this.#hasEnded = true;
    clearTimeout(this.#stallTimer);
    for (const { reject } of this.#pending.splice(0)) reject(this.#ended());
  }

  #ended(): BatchProcessEnded {
    const cause = this.#startFailure ?? neverBegan(this.#git, this.#stderr) ?? findSystemError(this.#stderr);
    return new BatchProcessEnded(`git ${this.#name} has ended: ${this.#stderr.trim()}`, { cause });
  }
}

/** Starts the command when it is first needed, and again when it has died. */
export class KeptOpen {
  readonly #git: GitProgram;
  readonly #command: BatchCommand;
  #process: BatchProcess | undefined;

  constructor(git: GitProgram, command: BatchCommand) {
    this.#git = git;
    this.#command = command;
  }

  /** For requests that may be made twice: one that a dying process left unanswered is made again, once. */
  async request<Reply>(input: string | Buffer, read: () => Reading<Reply>): Promise<Reply> {
    try {
      return await this.requestOnce(input, read);
    } catch (error) {
      if (!(error instanceof BatchProcessEnded)) throw error;
      return this.requestOnce(input, read);
    }
  }

  async requestOnce<Reply>(input: string | Buffer, read: () => Reading<Reply>): Promise<Reply> {
    if (this.#process === undefined || this.#process.hasEnded)
      this.#process = new BatchProcess(this.#git, this.#command);
    return this.#process.request(input, read);
  }

  async close(): Promise<void> {
    await this.#process?.close();
  }

  kill(): void {
    this.#process?.kill();
  }
}

const newline = 0x0a;

/** Bytes as they arrive, taken out by line or by number. */
export class ByteQueue {
  #chunks: Buffer[] = [];
  #length = 0;

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
  }

  /** Without its newline; undefined until it is whole. */
  takeLine(): Buffer | undefined {
    let before = 0;
    for (const chunk of this.#chunks) {
      const at = chunk.indexOf(newline);
      if (at !== -1) return this.take(before + at + 1)?.subarray(0, -1);
      before += chunk.length;
    }
    return undefined;
  }

  /** Undefined until so many have arrived; they are copied once, whatever their number. */
  take(count: number): Buffer | undefined {
    if (this.#length < count) return undefined;
    const first = this.#chunks[0];
    if (first !== undefined && first.length > count) {
      this.#chunks[0] = first.subarray(count);
      this.#length -= count;
      return first.subarray(0, count);
    }
    const all = this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks);
    this.#chunks = all.length > count ? [all.subarray(count)] : [];
    this.#length -= count;
    return all.subarray(0, count);
  }
}
