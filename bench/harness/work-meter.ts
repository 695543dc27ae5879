import { Type, type Static } from 'typebox';

import type { BenchProcess } from './bench-process.ts';

/** Answer of a process that has worked for a while. */
export const WorkDone = Type.Object({ count: Type.Number(), elapsedMs: Type.Number() });
export type WorkDone = Static<typeof WorkDone>;

/** Count per second. */
export const rateOf = ({ count, elapsedMs }: WorkDone): number => (1000 * count) / elapsedMs;

/** Turns rounds of work into rates, and keeps the processor time that the measured process took for them. */
export interface WorkMeter {
  /** Runs one round. Returns its count a second. */
  run(): Promise<number>;
  /** Microseconds of processor time for one of what is counted, over all rounds. */
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

/** For the notes: unlike the wall clock, it does not see what else the machine does. */
export function cpuNote(what: string, figure: WorkMeter, baseline: WorkMeter): string {
  const [ours, theirs] = [figure.cpuMicrosEach(), baseline.cpuMicrosEach()];
  const each = `${ours.toFixed(2)} µs against ${theirs.toFixed(2)} µs`;
  return `processor time of one ${what}: ${each}, a ratio of ${(theirs / ours).toFixed(2)}`;
}
