import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';

import type { TestTier } from './test-tiers.ts';

interface TierTime {
  readonly wallSeconds: number;
  /** Processor time in seconds of this process and its children. Linux counts a child once it has ended. */
  readonly processorSeconds: number;
  /** Fraction of the machine's processors used by other programs, from 0 to 1. */
  readonly othersShare: number;
}

/** Share of other programs above which wall time says nothing about the tests. */
const MAX_OTHERS_SHARE = 0.15;
/** `USER_HZ`: the unit of /proc/<pid>/stat on every Linux. */
const TICKS_PER_SECOND = 100;

/** Starts measuring. */
export function measureTier(): () => TierTime {
  const startedAt = performance.now();
  const [ownBefore, allBefore] = [ownProcessorSeconds(), allProcessorSeconds()];
  return () => {
    const wallSeconds = (performance.now() - startedAt) / 1000;
    const processorSeconds = ownProcessorSeconds() - ownBefore;
    const othersSeconds = Math.max(0, allProcessorSeconds() - allBefore - processorSeconds);
    return { wallSeconds, processorSeconds, othersShare: othersSeconds / (wallSeconds * cpus().length) };
  };
}

export function describeTime({ wallSeconds, processorSeconds, othersShare }: TierTime): string {
  const others = `other programs took ${Math.round(othersShare * 100)} % of the processors`;
  return `${minutes(wallSeconds)} min, ${minutes(processorSeconds)} min of processor time; ${others}`;
}

/** Returns the overrun; undefined within the budget. `fails` is true in CI if the machine was otherwise nearly idle. */
export function findOverrun(
  { wallSeconds, othersShare }: TierTime,
  { command, budgetMinutes }: TestTier,
  isCi: boolean,
): { readonly fails: boolean; readonly message: string } | undefined {
  if (wallSeconds <= budgetMinutes * 60) return undefined;
  const over = `${command} took ${minutes(wallSeconds)} min. Its budget is ${budgetMinutes} min (scripts/test-tiers.ts).`;
  if (othersShare > MAX_OTHERS_SHARE)
    return { fails: false, message: `${over} Not a failure: the machine was busy with other programs.` };
  const cure = 'Make the slowest files faster, or move them to another tier.';
  return { fails: isCi, message: isCi ? `${over} ${cure}` : `${over} ${cure} CI fails on this.` };
}

function ownProcessorSeconds(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  // Fields utime, stime, cutime and cstime; the name before them may contain spaces.
  const ticks = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15);
  return ticks.reduce((sum, text) => sum + Number(text), 0) / TICKS_PER_SECOND;
}

function allProcessorSeconds(): number {
  return cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0) / 1000;
}

const minutes = (seconds: number): string => (seconds / 60).toFixed(1);
