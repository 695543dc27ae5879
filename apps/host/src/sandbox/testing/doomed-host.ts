/** Runs a host with two idle children and a run that loops, for a test. Reports when the run is in its loop. */
import { createSandboxPool } from '../pool/sandbox-pool.ts';
import { startCode, testMemoryMb } from './code-runs.ts';

const pool = await createSandboxPool({
  size: 2,
  memoryMb: testMemoryMb,
  fetchPolicy: { allowPrivateAddresses: false },
});
const run = startCode(pool, `console.log('go'); while (true) {}`, {
  limits: { durationMs: 60_000, cpuMs: 60_000 },
});
await run.logged('go');
console.log('looping');
