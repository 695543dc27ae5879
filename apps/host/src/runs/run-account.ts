import type { RunOutcome } from '@phalanx/protocol';

import type { RunEnd } from './run-record.ts';

/** What a run has said of itself: it completes the facts of its end. */
export class RunAccount {
  #result: string | undefined;
  #failure: RunOutcome | undefined;

  /** JSON text; the last one counts. */
  setResult(json: string): void {
    this.#result = json;
  }

  /** Whether there is a record of it or not: a limit of records must not make a success of it. */
  submitted(type: string): void {
    if (type === 'outOfSteps') this.#failure = 'out_of_steps';
    if (type === 'timeout') this.#failure = 'timed_out';
  }

  /** The stages that it tried last are reached. */
  arrived(): void {
    this.#failure = undefined;
  }

  /** The end, with the result and with the outcome where that is not what the status says. */
  complete(end: RunEnd): RunEnd {
    const outcome = end.status === 'completed' ? this.#failure : undefined;
    return {
      ...end,
      ...(outcome !== undefined && { outcome }),
      ...(this.#result !== undefined && { result: this.#result }),
    };
  }
}
