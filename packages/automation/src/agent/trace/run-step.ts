import type { StepAim, StepEnd } from '@phalanx/protocol';

export interface StepCall<Result> {
  readonly name: string;
  readonly aim: () => StepAim;
  readonly work: () => Promise<Result>;
  /** Details of the step's end that the result reveals. */
  readonly endOf?: (result: Result) => Partial<StepEnd>;
}

/** Performs work and reports it as one step of the run. */
export type RunStep = <Result>(call: StepCall<Result>) => Promise<Result>;

/** Performs work without reporting it. */
export const runUnreported: RunStep = ({ work }) => work();
