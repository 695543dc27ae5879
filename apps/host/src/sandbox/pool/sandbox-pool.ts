import type { Socket } from 'node:net';
import { openConfinement, type Confinement } from '@phalanx/confinement';
import type { SandboxCommand, SandboxLogRate } from '@phalanx/protocol';
import type { Logger } from 'pino';

import { FetchBroker } from '../fetch/fetch-broker.ts';
import { buildSandboxBundles, bundleProgram } from '../process/bundles.ts';
import { runInChild } from '../run/sandbox-run.ts';
import type { SandboxHooks, SandboxJob, SandboxRun } from '../sandbox-job.ts';
import { WarmChildren } from './warm-children.ts';

interface SandboxPoolOptions {
  /** Idle children kept ready. */
  size: number;
  /** Memory limit that idle children are made for, in MB; a job with another limit starts its own. Default 256. */
  memoryMb?: number;
  /** What `fetch` in user code may reach. */
  fetchPolicy: { allowPrivateAddresses: boolean };
  /** How fast one run may log before it is held back. Default: 2,000 lines and 4 MiB a second, burst 20,000 and 16 MiB. */
  logRate?: SandboxLogRate;
  /** What holds the processes of user code. Default: what this machine offers. */
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

/** Resolves when the first children are ready. Rejects when children can't be started on this machine. */
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
