/** Exit codes of `phalanx`; scripts rely on them. */
export const exitCodes = {
  ok: 0,
  /** A run did not complete, or newer work would have been overwritten, or a fault of the program. */
  failed: 1,
  /** Usage, settings, a token that is not valid, or a server that can't be reached. */
  usage: 2,
  /** The server said no: devices offline, compile errors, no permission, not found. */
  refused: 3,
  /** A screen was not taken for what it is: runs met an unknown one or ran out of steps, or a golden screen is not as expected. */
  outOfSteps: 4,
  /** Ctrl-C; other signals are 128 plus their number, as in shells. */
  interrupted: 130,
} as const;

export const exitCodesHelp = `
Exit codes:
  0    done; with --follow: every run completed
  1    a run failed, timed out, was lost or was stopped; or a push or pull left out what would overwrite newer work
  2    wrong usage or settings, a token that is not valid, or a server that cannot be reached
  3    the server refused: devices offline, compile errors, no permission, not found
  4    with --follow: every run completed, but one met an unknown screen or ran out of steps;
       test: a golden screen is not taken for what it should be
  130  Ctrl-C (the runs go on)
`;

const words: Readonly<Record<number, string>> = {
  [exitCodes.failed]: 'failed',
  [exitCodes.usage]: 'usage',
  [exitCodes.refused]: 'refused',
  [exitCodes.outOfSteps]: 'out_of_steps',
};

/** An end of the program that is for people: one line, no stack. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.exitCode = exitCode;
  }

  /** The exit code as a word, for errors in JSON. */
  get code(): string {
    return words[this.exitCode] ?? 'interrupted';
  }
}

export const usageError = (message: string): CommandError => new CommandError(exitCodes.usage, message);
