export { createSandboxPool, type SandboxPool, type SandboxPoolOptions } from './sandbox-pool.ts';
export type { SandboxEnd, SandboxHooks, SandboxJob, SandboxLimits, SandboxRun } from './sandbox-job.ts';
