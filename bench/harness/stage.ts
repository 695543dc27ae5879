import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { startBenchProcess, type BenchProcess } from './bench-process.ts';

/** Options of the command line. */
export interface StageOptions {
  /** Names of attacks. Default: all. */
  readonly attacks: readonly string[];
  /** Number of phones in the row `simulated-phones`, and the minutes of their use. */
  readonly count: number;
  readonly minutes: number;
  /** Fraction of the launches, tasks and schedules in the rows of the queue; 1 means all. */
  readonly part: number;
}

/** Resources of a row's measurement, which are released after the row. */
export interface Stage {
  readonly options: StageOptions;
  /** Creates a new, empty folder. */
  folder(): Promise<string>;
  /** Starts a file of `processes/` in a process. */
  start(name: string, nodeFlags?: readonly string[]): Promise<BenchProcess>;
  /** Registers a cleanup that runs after the processes have ended. */
  defer(end: () => Promise<unknown>): void;
}

/** Runs `work` on a stage. `profileFolder` receives a CPU profile of every process when it ends. */
export async function onStage<Result>(
  profileFolder: string | undefined,
  options: StageOptions,
  work: (stage: Stage) => Promise<Result>,
): Promise<Result> {
  await using folders = new AsyncDisposableStack();
  await using others = new AsyncDisposableStack();
  // Processes end first: a running one could write to a folder that is being removed.
  await using processes = new AsyncDisposableStack();
  return await work({
    options,
    async folder() {
      const folder = await mkdtemp(path.join(tmpdir(), 'phalanx-bench-'));
      folders.defer(() => rm(folder, { recursive: true, force: true }));
      return folder;
    },
    async start(name, nodeFlags = []) {
      const profiling = profileFolder === undefined ? [] : profilingFlags(profileFolder, name);
      const started = await startBenchProcess(name, [...nodeFlags, ...profiling]);
      processes.defer(() => started.close());
      return started;
    },
    defer(end) {
      others.defer(async () => void (await end()));
    },
  });
}

const profilingFlags = (folder: string, name: string): string[] => [
  '--cpu-prof',
  `--cpu-prof-dir=${path.join(folder, name)}`,
];
