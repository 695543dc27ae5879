export { createSandboxPool, type SandboxPool } from './pool/sandbox-pool.ts';
export type {
  SandboxEnd,
  SandboxHooks,
  SandboxJob,
  SandboxLimits,
  SandboxRun,
  StepBegan,
} from './sandbox-job.ts';
