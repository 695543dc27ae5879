import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { startBenchProcess, type BenchProcess } from './bench-process.ts';

/** Options of the command line. */
export interface StageOptions {
  /** Names of attacks; none: all. */
  readonly attacks: readonly string[];
  /** Simulated phones of the row of that name, and for how many minutes they are used. */
  readonly count: number;
  readonly minutes: number;
  /** The part of their launches, tasks and schedules that the rows of the queue have: 1 is all. */
  readonly part: number;
}

/** The means of a row to measure; all of them are gone when the row is done. */
export interface Stage {
  readonly options: StageOptions;
  /** A new, empty folder. */
  folder(): Promise<string>;
  /** Starts a file of `processes/`. */
  start(name: string, nodeFlags?: readonly string[]): Promise<BenchProcess>;
  /** Ends what else the row has begun, after its processes. */
  defer(end: () => Promise<unknown>): void;
}

/** `profileFolder`: where every process leaves a CPU profile when it ends. */
export async function onStage<Result>(
  profileFolder: string | undefined,
  options: StageOptions,
  work: (stage: Stage) => Promise<Result>,
): Promise<Result> {
  await using folders = new AsyncDisposableStack();
  await using others = new AsyncDisposableStack();
  // They end first: a process that still runs would write into a folder that is being removed.
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
