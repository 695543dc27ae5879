import { boundedCache } from '../../kernel/bounded-cache.ts';

import { ConfinedProcessEnded, type Budget } from '../../kernel/processes/confined-process.ts';
import { CompileProcess, type CompileProcessOptions } from './compile-process.ts';

interface PoolOptions extends CompileProcessOptions {
  processes: number;
  onEnd: (error: ConfinedProcessEnded, projectId: string) => void;
}

interface Work<Result> {
  projectId: string;
  /** User for whom the work is done. */
  userId: string;
  budget: Budget;
  task: (process: CompileProcess) => Promise<Result>;
}

interface Job {
  projectId: string;
  userId: string;
  budget: Budget;
  queuedAt: number;
  failures: number;
  run: (process: CompileProcess) => Promise<void>;
  fail: (error: unknown) => void;
}

/** Maximum time that a job waits for the process that is warm for its project, before it runs cold in another one. */
const homeWaitMs = 250;
const maxRemembered = 10_000;
/** Share of the memory limit above which a process is replaced as soon as it is idle. */
const replaceAtShare = 0.6;

/** Pool of compile processes, started on demand. Runs a project's work in order, in one process at a time. */
export class ProcessPool {
  readonly #options: PoolOptions;
  /** Queued jobs in order of arrival. `compileInTurns` has already made the users take turns. */
  #waiting: Job[] = [];
  readonly #working = new Set<string>();
  /** Most recent user of each project. */
  readonly #users = boundedCache<string>(maxRemembered);
  readonly #tidying = new Set<Promise<void>>();
  #processes: CompileProcess[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /**
   * Runs `task` in a process. Rejects with `ConfinedProcessEnded` when the task made the process end, or a retry failed
   * too.
   */
  async run<Result>({ projectId, userId, budget, task }: Work<Result>): Promise<Result> {
    if (this.#isClosed) throw new Error('The compiler is closed');
    return new Promise<Result>((resolve, reject) => {
      const run = async (process: CompileProcess): Promise<void> => resolve(await task(process));
      this.#waiting.push({
        projectId,
        userId,
        budget,
        run,
        fail: reject,
        queuedAt: performance.now(),
        failures: 0,
      });
      this.#schedule();
    });
  }

  /** Starts the first process ahead of time, so that the first job does not wait for it. */
  prepare(): void {
    if (!this.#isClosed && this.#processes.length === 0) this.#spawn();
  }

  /** Resident bytes of all processes. */
  async memoryUse(): Promise<number> {
    const sizes = await Promise.all(this.#processes.map((process) => process.memoryUse()));
    return sizes.reduce((sum, sizeBytes) => sum + sizeBytes, 0);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const job of this.#waiting) job.fail(new Error('The compiler is closed'));
    this.#waiting = [];
    const processes = this.#processes;
    for (const process of processes) process.kill('crashed');
    await Promise.all([...processes.map(({ ended }) => ended), ...this.#tidying]);
  }

  #schedule(): void {
    if (this.#isClosed) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // Keeps each project's jobs in order: no job overtakes an earlier one that waits for a process.
    const projects = new Set(this.#working);
    for (const job of [...this.#waiting]) {
      if (projects.has(job.projectId)) continue;
      projects.add(job.projectId);
      const process = this.#choose(job);
      if (process === undefined) continue;
      this.#waiting = this.#waiting.filter((other) => other !== job);
      void this.#start(job, process);
    }
  }

  /**
   * Prefers a process that is warm for the project, then one that holds only this user's projects, so that no user pays
   * for what another user's projects do to a process.
   */
  #choose({ projectId, userId, queuedAt }: Job): CompileProcess | undefined {
    const home = this.#processes.find(({ mirrors }) => mirrors.has(projectId));
    if (home !== undefined && !home.isBusy) return home;
    const waitedMs = performance.now() - queuedAt;
    if (home !== undefined && waitedMs < homeWaitMs) {
      this.#timer ??= setTimeout(() => this.#schedule(), homeWaitMs - waitedMs);
      return undefined;
    }
    const idle = smallestFirst(this.#processes.filter(({ isBusy }) => !isBusy));
    return idle.find((one) => this.#isOnlyOf(userId, one)) ?? this.#spawn() ?? idle[0];
  }

  #isOnlyOf(userId: string, { mirrors }: CompileProcess): boolean {
    return [...mirrors.keys()].every((projectId) => this.#users.get(projectId) === userId);
  }

  #spawn(): CompileProcess | undefined {
    if (this.#processes.length >= this.#options.processes) return undefined;
    const process = new CompileProcess(this.#options);
    this.#processes.push(process);
    void process.ended.then(() => this.#remove(process));
    return process;
  }

  #remove(process: CompileProcess): void {
    this.#processes = this.#processes.filter((other) => other !== process);
    this.#schedule();
  }

  async #start(job: Job, process: CompileProcess): Promise<void> {
    this.#users.set(job.projectId, job.userId);
    this.#working.add(job.projectId);
    const wasShared = process.mirrors.size > 1;
    try {
      await process.work(() => job.run(process), job.budget);
      this.#tidy(process);
    } catch (error) {
      this.#fail(job, error, wasShared);
    } finally {
      this.#working.delete(job.projectId);
      this.#schedule();
    }
  }

  /**
   * Retries once after a crash, which may have an external cause, and after running out of memory that other projects
   * may hold.
   */
  #fail(job: Job, error: unknown, wasShared: boolean): void {
    if (this.#isClosed) return job.fail(new Error('The compiler is closed'));
    if (!(error instanceof ConfinedProcessEnded)) return job.fail(error);
    this.#options.onEnd(error, job.projectId);
    const isOwnFault =
      ['timed_out', 'out_of_processor_time'].includes(error.reason) ||
      (error.reason === 'out_of_memory' && !wasShared);
    if (isOwnFault || job.failures > 0) return job.fail(error);
    this.#waiting.unshift({ ...job, failures: job.failures + 1 });
  }

  #tidy(process: CompileProcess): void {
    const tidying = this.#replaceLarge(process).finally(() => this.#tidying.delete(tidying));
    this.#tidying.add(tidying);
  }

  async #replaceLarge(process: CompileProcess): Promise<void> {
    const sizeBytes = await process.memoryUse();
    if (!process.isBusy && sizeBytes > this.#options.maxMemoryBytes * replaceAtShare) process.kill('crashed');
  }
}

const smallestFirst = (processes: readonly CompileProcess[]): CompileProcess[] =>
  processes.toSorted((one, other) => one.mirrors.size - other.mirrors.size);
