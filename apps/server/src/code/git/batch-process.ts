import { whenClosed, type StartedProcess } from '@phalanx/confinement';
import { ByteQueue } from './byte-queue.ts';
import { findSystemError, neverBegan, startGit, type GitProgram } from './git-process.ts';

/** Reader of a reply. Yields what it needs next, a line or a number of bytes, and returns the reply. */
export type Reading<Reply> = Generator<'line' | number, Reply, Buffer>;

/** Error when the process ended before its reply. Whether it executed the request is unknown. */
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

/** Timeout of a process that has pending requests and sends nothing. */
const stallLimitMs = 60_000;
const stderrLimit = 4096;

/** Long-running git command that answers requests in order. */
export class BatchProcess {
  readonly #git: GitProgram;
  /** Started process. Rejects when the process can't be started; `#exit` handles that. */
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

  /** Closes the input, and waits until the process has answered its pending requests and ended. Kills it after 5 s. */
  async close(): Promise<void> {
    this.#with(({ streams: [stdin] }) => stdin.end());
    const timer = setTimeout(() => this.kill(), 5000);
    await this.#exit;
    clearTimeout(timer);
  }

  kill(): void {
    this.#with((child) => child.signal('SIGKILL'));
  }

  /** Calls `act` now, or as soon as the process has started, in order. */
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
      // Kills the process, because the rest of its output can't be assigned to requests any more.
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
