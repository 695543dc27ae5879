import { createSandboxPool, type SandboxPool } from '../sandbox/index.ts';

let shared: Promise<SandboxPool> | undefined;

/**
 * Opens the sandbox pool of all hosts in this worker's tests. A pool includes a fetch process, which each host would
 * otherwise start in vain.
 */
export const openSharedPool = (memoryMb: number): Promise<SandboxPool> =>
  (shared ??= createSandboxPool({ size: 0, memoryMb, fetchPolicy: { allowPrivateAddresses: false } }));
