import { constants } from 'node:os';

import { CommandError } from '../exit-codes.ts';
import { untilSignal } from '../until-signal.ts';

/** Gives what `work` gives, unless a signal comes first: then it throws an end with `message` and the shell's code. */
export async function unlessInterrupted<Result>(work: Promise<Result>, message: string): Promise<Result> {
  const interrupted = untilSignal().then((signal) => {
    throw new CommandError(128 + constants.signals[signal], message);
  });
  return Promise.race([work, interrupted]);
}
