import type { Start } from '@phalanx/confinement';

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
