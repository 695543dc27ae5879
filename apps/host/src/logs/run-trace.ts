import { StepBegin, StepEnd, stepRate, unfinishedOutcome, type WireStep } from '@phalanx/protocol';

import { Compile } from 'typebox/compile';

import type { StepBegan } from '../sandbox/index.ts';
import { TokenBucket } from '../time/token-bucket.ts';
import type { SeenScreens } from '../records/seen-screens.ts';

/** Maximum number of open steps: stages, sleeps, and the maximum of concurrent calls. */
const maxOpenSteps = 200;

/** Step that has ended and goes to the run's log. */
export interface EndedStep {
  /** Start of the step, epoch milliseconds on the host's clock. */
  timestamp: number;
  lineNumber: number;
  path: string | null;
  step: WireStep;
}

const isStep = Compile(StepBegin);
const isEnd = Compile(StepEnd);

interface OpenStep extends StepBegan {
  step: StepBegin;
  beganAt: number;
  /** Start of the step on a monotonic clock, in milliseconds. */
  beganMs: number;
  readingsBefore: number;
  before: string | undefined;
}

/**
 * Traces the steps of one run. Their content comes from a process that runs user code. Start times, durations and seen
 * screens are measured here.
 */
export class RunTrace {
  readonly #screens: SeenScreens;
  readonly #put: (step: EndedStep) => void;
  readonly #open = new Map<number, OpenStep>();
  /** Rate limit of steps. The child process applies it too, unless user code has compromised it. */
  readonly #steps = new TokenBucket(stepRate.perSecond, stepRate.burst);

  constructor(screens: SeenScreens, put: (step: EndedStep) => void) {
    this.#screens = screens;
    this.#put = put;
  }

  began({ step, ...told }: StepBegan): void {
    if (!isStep.Check(step) || this.#open.size >= maxOpenSteps || this.#steps.waitMs(0) > 0) return;
    this.#steps.take(1);
    const { readings: readingsBefore, currentId: before } = this.#screens;
    const begun = { ...told, step, beganAt: Date.now(), beganMs: performance.now(), readingsBefore, before };
    this.#open.set(step.step, begun);
  }

  ended(end: unknown): void {
    const open = isEnd.Check(end) ? this.#open.get(end.step) : undefined;
    if (open === undefined || !isEnd.Check(end)) return;
    this.#open.delete(end.step);
    this.#put(this.#close(open, end));
  }

  /** Closes all open steps as unfinished: after the end of the run none of them can still complete. */
  finish(): void {
    for (const [step, open] of this.#open) this.#put(this.#close(open, { step, outcome: unfinishedOutcome }));
    this.#open.clear();
  }

  #close(open: OpenStep, end: StepEnd): EndedStep {
    const { step, skipped, lineNumber, path, beganAt, beganMs, readingsBefore, before } = open;
    const readings = this.#screens.readings - readingsBefore;
    const after = readings > 0 ? this.#screens.currentId : undefined;
    const told: WireStep = {
      ...step,
      ...end,
      duration_ms: Math.round(performance.now() - beganMs),
      ...(readings > 0 && { readings }),
      ...(before !== undefined && { before }),
      ...(after !== undefined && { after }),
      ...(skipped > 0 && { skipped }),
    };
    return { timestamp: beganAt, lineNumber, path, step: told };
  }
}
