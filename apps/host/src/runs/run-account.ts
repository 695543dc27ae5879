import type { RunOutcome } from '@phalanx/protocol';

import type { RunEnd } from './run-journal.ts';

const phoneLosses: ReadonlySet<unknown> = new Set(['phone_gone', 'phone_unavailable']);

/** Account of a run on itself: it completes the facts of its end. */
export class RunAccount {
  #result: string | undefined;
  #failure: RunOutcome | undefined;
  /** Reason why the last call failed whose phone was gone. */
  #phoneLoss: string | undefined;

  /** JSON text; the last one counts. */
  setResult(json: string): void {
    this.#result = json;
  }

  /** Notes a submit, with a record of it or not: a limit of records must not make a success of it. */
  submitted(type: string): void {
    if (type === 'outOfSteps') this.#failure = 'out_of_steps';
    if (type === 'timeout') this.#failure = 'timed_out';
  }

  /** The stages that it tried last are reached. */
  arrived(): void {
    this.#failure = undefined;
  }

  /** A call to the phone has failed. */
  callFailed(error: unknown): void {
    if (error instanceof Error && 'code' in error && phoneLosses.has(error.code))
      this.#phoneLoss = error.message;
  }

  /** The code did not catch that its phone was gone: then the phone failed, not the code. */
  blame(end: RunEnd): RunEnd {
    const { error } = end;
    const isPhones =
      error?.code === 'uncaught_error' &&
      this.#phoneLoss !== undefined &&
      error.message.includes(this.#phoneLoss);
    return isPhones ? { ...end, error: { ...error, code: 'phone_lost' } } : end;
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
