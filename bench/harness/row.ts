import type { Stage } from './stage.ts';

/** Limit that a row must meet. */
export interface Target {
  /** Measured value; `ratio` is the figure divided by the baseline. */
  of: 'figure' | 'ratio';
  bound: 'at least' | 'at most';
  value: number;
}

/** Row of the table. */
export interface RowResult {
  /** Median over the rounds. */
  figure: number;
  baseline: number;
  unit: string;
  /** Limits; empty means that the figure is only monitored. */
  targets: readonly Target[];
  /** Notes about the figure, printed below the table. */
  notes: readonly string[];
}

/** Benchmark. Its file explains what is compared, and why the comparison is fair. */
export interface Row {
  /** Name on the command line. */
  name: string;
  title: string;
  /** Baseline in a few words. */
  against: string;
  measure(stage: Stage): Promise<RowResult>;
}

export const ratioOf = ({ figure, baseline }: RowResult): number => figure / baseline;

export function holds(result: RowResult, { of, bound, value }: Target): boolean {
  const measured = of === 'ratio' ? ratioOf(result) : result.figure;
  return bound === 'at least' ? measured >= value : measured <= value;
}
