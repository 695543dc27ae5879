import { Type, type Static } from 'typebox';

import type { BenchProcess } from './bench-process.ts';

/** Result of a process after a period of work. */
export const WorkDone = Type.Object({ count: Type.Number(), elapsedMs: Type.Number() });
export type WorkDone = Static<typeof WorkDone>;

/** Returns the count per second. */
export const rateOf = ({ count, elapsedMs }: WorkDone): number => (1000 * count) / elapsedMs;

/** Converts rounds of work to rates and sums up the processor time of the measured process. */
export interface WorkMeter {
  /** Runs one round. Returns the count per second. */
  run(): Promise<number>;
  /** Returns the processor time per counted item over all rounds, in µs. */
  cpuMicrosEach(): number;
}

export function meterWork(measured: BenchProcess, work: () => Promise<WorkDone>): WorkMeter {
  let cpuMs = 0;
  let total = 0;
  return {
    async run() {
      const before = await measured.cpuMs();
      const done = await work();
      cpuMs += (await measured.cpuMs()) - before;
      total += done.count;
      return rateOf(done);
    },
    cpuMicrosEach: () => (1000 * cpuMs) / total,
  };
}

/** Returns a note with processor times, which unlike wall time are independent of other load on the machine. */
export function cpuNote(what: string, figure: WorkMeter, baseline: WorkMeter): string {
  const [ours, theirs] = [figure.cpuMicrosEach(), baseline.cpuMicrosEach()];
  const each = `${ours.toFixed(2)} µs against ${theirs.toFixed(2)} µs`;
  return `processor time of one ${what}: ${each}, a ratio of ${(theirs / ours).toFixed(2)}`;
}
