import type { Socket } from 'node:net';
import { availableParallelism } from 'node:os';
import { openConfinement, type Confinement } from '@phalanx/confinement';
import type { SandboxCommand, SandboxLogRate } from '@phalanx/protocol';
import type { Logger } from 'pino';
import pLimit from 'p-limit';
import { createBackoff } from '../../time/backoff.ts';
import { FetchBroker } from '../fetch/fetch-broker.ts';
import { buildSandboxBundles, bundleProgram } from '../process/bundles.ts';
import { runInChild } from '../run/sandbox-run.ts';
import type { SandboxHooks, SandboxJob, SandboxRun } from '../sandbox-job.ts';
import { spawnSandboxChild, type ChildGround, type SandboxChild } from '../process/confined-child.ts';

interface SandboxPoolOptions {
  /** Number of idle children to keep ready. */
  size: number;
  /** Memory limit of the idle children in MB. A job with another limit starts its own child. Default 256. */
  memoryMb?: number;
  /** Policy for the addresses that `fetch` in user code may reach. */
  fetchPolicy: { allowPrivateAddresses: boolean };
  /**
   * Rate limit of one run's log; a faster run is throttled. Default: 2,000 lines and 4 MiB per second, burst 20,000 and
   * 16 MiB.
   */
  logRate?: SandboxLogRate;
  /** Confinement of the processes that run user code. Default: the one that this machine offers. */
  confinement?: Confinement;
  log?: Logger;
}

export interface SandboxPool {
  start(job: SandboxJob, hooks: SandboxHooks): SandboxRun;
  /** Stops all runs, then ends all children. */
  close(): Promise<void>;
}

const defaultLogRate: SandboxLogRate = {
  linesPerSecond: 2000,
  burstLines: 20_000,
  bytesPerSecond: 4 * 1024 * 1024,
  burstBytes: 16 * 1024 * 1024,
};

/** Resolves when the first children are ready. Rejects when this machine can't start children. */
export async function createSandboxPool(options: SandboxPoolOptions): Promise<SandboxPool> {
  const { size, memoryMb = 256, log } = options;
  const [bundles, program, confinement] = await Promise.all([
    buildSandboxBundles(),
    bundleProgram(new URL('../fetch/broker/main.ts', import.meta.url)),
    options.confinement ?? openConfinement(),
  ]);
  const onGone = (): void => children.replaceIdle();
  const broker = new FetchBroker({ ...options.fetchPolicy, program, confinement, onGone, log });
  const serveFetches = (socket: Socket): Promise<void> => broker.serve(socket);
  const children = new WarmChildren({ bundles, confinement, serveFetches }, { size, memoryMb, log });
  await children.fill();
  const running = new Set<SandboxRun>();
  return {
    start(job, hooks) {
      const command = commandOf(job, options);
      const run = runInChild(children.take(job.limits.memoryMb), { job, hooks, command, log });
      running.add(run);
      void run.ended.then(() => running.delete(run));
      return run;
    },
    async close() {
      for (const run of running) run.stop();
      await Promise.all([...running].map(({ ended }) => ended));
      await children.close();
      await broker.close();
    },
  };
}

function commandOf(job: SandboxJob, options: SandboxPoolOptions): Extract<SandboxCommand, { type: 'job' }> {
  return {
    type: 'job',
    code: job.bundle.code,
    sourceMap: job.bundle.sourceMap,
    argumentsJson: JSON.stringify(job.arguments),
    cpuMs: job.limits.cpuMs,
    logRate: options.logRate ?? defaultLogRate,
  };
}

/**
 * Delay of a refill in milliseconds: starting a process takes most of a core for a while, which a run that has just
 * begun needs first.
 */
const refillAfterMs = 100;
/**
 * Maximum number of children that start at the same time, in the order of the requests. A start takes a core's time; if
 * many shared the cores, all would be ready only at the end, too late for their runs to begin.
 */
export const maxStarting = Math.max(2, availableParallelism());

interface WarmChildrenOptions {
  size: number;
  memoryMb: number;
  log: Logger | undefined;
}

/** Pool of idle children with a fixed number. It tracks all living children, so that it can end them. */
export class WarmChildren {
  readonly #ground: ChildGround;
  readonly #options: WarmChildrenOptions;
  readonly #idle = new Set<SandboxChild>();
  readonly #starting = new Set<SandboxChild>();
  readonly #living = new Set<SandboxChild>();
  readonly #backoff = createBackoff({ firstMs: 100 });
  #refillTimer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(ground: ChildGround, options: WarmChildrenOptions) {
    this.#ground = { inTurn: pLimit(maxStarting), ...ground };
    this.#options = options;
  }

  /** Starts the missing idle children. Rejects when a child dies before it is ready. */
  async fill(): Promise<void> {
    const missing = Math.max(0, this.#options.size - this.#idle.size - this.#starting.size);
    await Promise.all(Array.from({ length: missing }, () => this.#addIdle()));
  }

  /**
   * Takes a ready child with this limit, else the child that started first, else a new one. A child that is not ready
   * takes its job later.
   */
  take(memoryMb: number): SandboxChild {
    if (this.#closed) throw new Error('The sandbox pool is closed.');
    const [child] = memoryMb === this.#options.memoryMb ? [...this.#idle, ...this.#starting] : [];
    if (child === undefined) return this.#spawn(memoryMb);
    this.#idle.delete(child);
    this.#starting.delete(child);
    this.#refillLater(refillAfterMs);
    return child;
  }

  /** Replaces the idle children. Call it when something that they were started with is gone. */
  replaceIdle(): void {
    for (const child of [...this.#idle, ...this.#starting]) child.kill();
    this.#idle.clear();
    this.#starting.clear();
    this.#refill();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#refillTimer);
    const exits = [...this.#living].map((child) => child.exited);
    for (const child of this.#living) child.kill();
    await Promise.all(exits);
  }

  #spawn(memoryMb: number): SandboxChild {
    const child = spawnSandboxChild(this.#ground, memoryMb);
    this.#living.add(child);
    void child.exited.then((exit) => {
      this.#living.delete(child);
      if (!this.#idle.delete(child) || this.#closed) return;
      this.#options.log?.warn({ ...exit, pid: child.pid }, 'an idle sandbox process has died');
      this.#refill();
    });
    return child;
  }

  /** Adds an idle child. Resolves without one when a run has taken it, or when `replaceIdle` has killed it. */
  async #addIdle(): Promise<void> {
    const child = this.#spawn(this.#options.memoryMb);
    this.#starting.add(child);
    const ready = new Promise<true>((resolve) => {
      child.onReports = async ([first]) => {
        if (first?.type === 'ready') resolve(true);
      };
    });
    const exit = await Promise.race([ready, child.exited]);
    if (!this.#starting.delete(child)) return;
    if (exit !== true)
      throw new Error(`A sandbox process did not start: ${exit.startError ?? (exit.stderr || exit.signal)}`);
    if (this.#closed) return;
    this.#idle.add(child);
    this.#backoff.reset();
  }

  #refillLater(afterMs: number): void {
    this.#refillTimer ??= setTimeout(() => {
      this.#refillTimer = undefined;
      this.#refill();
    }, afterMs);
  }

  /**
   * Refills the pool. Failed starts are retried with exponential backoff, so that they do not keep a broken machine
   * busy.
   */
  #refill(): void {
    if (this.#closed) return;
    this.fill().catch((error: unknown) => {
      if (this.#closed) return;
      this.#options.log?.error({ err: error }, 'could not start an idle sandbox process');
      this.#refillLater(this.#backoff.nextMs());
    });
  }
}
