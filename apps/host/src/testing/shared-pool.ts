import { createSandboxPool, type SandboxPool } from '../sandbox/index.ts';

let shared: Promise<SandboxPool> | undefined;

/** Sandboxes of all hosts of this worker's tests. A pool has a process that fetches, which each host would start for nothing. */
export const openSharedPool = (memoryMb: number): Promise<SandboxPool> =>
  (shared ??= createSandboxPool({ size: 0, memoryMb, fetchPolicy: { allowPrivateAddresses: false } }));
