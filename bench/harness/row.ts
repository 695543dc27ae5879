import type { Stage } from './stage.ts';

/** A bound that a row is held to. */
export interface Target {
  /** `ratio`: figure divided by baseline figure. */
  of: 'figure' | 'ratio';
  bound: 'at least' | 'at most';
  value: number;
}

/** One line of the table. */
export interface RowResult {
  /** Medians over the rounds. */
  figure: number;
  baseline: number;
  unit: string;
  /** Empty: nothing is promised, the figure is only watched. */
  targets: readonly Target[];
  /** Explanations of the figure; printed below the table. */
  notes: readonly string[];
}

/** A benchmark. Its file says what is compared with what, and why that is fair. */
export interface Row {
  /** Name on the command line. */
  name: string;
  title: string;
  /** The baseline in a few words. */
  against: string;
  measure(stage: Stage): Promise<RowResult>;
}

export const ratioOf = ({ figure, baseline }: RowResult): number => figure / baseline;

export function holds(result: RowResult, { of, bound, value }: Target): boolean {
  const measured = of === 'ratio' ? ratioOf(result) : result.figure;
  return bound === 'at least' ? measured >= value : measured <= value;
}
