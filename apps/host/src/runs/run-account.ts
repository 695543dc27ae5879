import type { RunOutcome } from '@phalanx/protocol';

import type { RunEnd } from './run-record.ts';

const phoneLosses: ReadonlySet<unknown> = new Set(['phone_gone', 'phone_unavailable']);

/** Results that a run reports about itself. They complete its end. */
export class RunAccount {
  #result: string | undefined;
  #failure: RunOutcome | undefined;
  /** Reason of the last call that failed because the phone was gone. */
  #phoneLoss: string | undefined;

  /** Sets the result as JSON text. The last call wins. */
  setResult(json: string): void {
    this.#result = json;
  }

  /** Records a submit, even if no record is made: a limit on records must not turn a failure into a success. */
  submitted(type: string): void {
    if (type === 'outOfSteps') this.#failure = 'out_of_steps';
    if (type === 'timeout') this.#failure = 'timed_out';
  }

  /** Clears the outcome: the stages that the run tried last were reached. */
  arrived(): void {
    this.#failure = undefined;
  }

  /** Records a failed call to the phone. */
  callFailed(error: unknown): void {
    if (error instanceof Error && 'code' in error && phoneLosses.has(error.code))
      this.#phoneLoss = error.message;
  }

  /** Attributes an uncaught error to the phone when the phone was gone: then the phone failed, not the code. */
  blame(end: RunEnd): RunEnd {
    const { error } = end;
    const isPhones =
      error?.code === 'uncaught_error' &&
      this.#phoneLoss !== undefined &&
      error.message.includes(this.#phoneLoss);
    return isPhones ? { ...end, error: { ...error, code: 'phone_lost' } } : end;
  }

  /** Adds the result, and the outcome when it differs from the status. */
  complete(end: RunEnd): RunEnd {
    const outcome = end.status === 'completed' ? this.#failure : undefined;
    return {
      ...end,
      ...(outcome !== undefined && { outcome }),
      ...(this.#result !== undefined && { result: this.#result }),
    };
  }
}
