import { constants } from 'node:os';

import { CommandError } from './exit-codes.ts';

/** Resolves at the first SIGINT, SIGTERM or SIGHUP. A second one ends the process at once, as signals do. */
export function untilSignal(): Promise<NodeJS.Signals> {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>();
  const signals: NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  const onSignal = (signal: NodeJS.Signals): void => {
    for (const name of signals) process.off(name, onSignal);
    resolve(signal);
  };
  for (const name of signals) process.on(name, onSignal);
  return promise;
}

/** Returns the result of `work`. If a signal comes first, throws an error with `message` and the shell's exit code. */
export async function unlessInterrupted<Result>(work: Promise<Result>, message: string): Promise<Result> {
  const interrupted = untilSignal().then((signal) => {
    throw new CommandError(128 + constants.signals[signal], message);
  });
  return Promise.race([work, interrupted]);
}
