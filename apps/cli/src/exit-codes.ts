/** Exit codes of `phalanx`; scripts rely on them. */
export const exitCodes = {
  ok: 0,
  /** A run did not complete, a push or pull would have overwritten newer changes, or the program has a bug. */
  failed: 1,
  /** Invalid usage, settings or token, or an unreachable server. */
  usage: 2,
  /** The server refused the request: offline devices, compile errors, missing permission, not found. */
  refused: 3,
  /** A run met an unknown screen or ran out of steps, or a golden screen was not recognised as expected. */
  outOfSteps: 4,
  /** Ctrl-C; other signals are 128 plus their number, as in shells. */
  interrupted: 130,
} as const;

export const exitCodesHelp = `
Exit codes:
  0    success; with --follow: every run completed
  1    a run failed, timed out, was lost or was stopped; or a push or pull would have overwritten newer changes
  2    invalid usage, settings or token, or an unreachable server
  3    the server refused the request: offline devices, compile errors, missing permission, not found
  4    with --follow: every run completed, but one met an unknown screen or ran out of steps;
       test: a golden screen was not recognised as expected
  130  Ctrl-C (the runs continue)
`;

const words: Readonly<Record<number, string>> = {
  [exitCodes.failed]: 'failed',
  [exitCodes.usage]: 'usage',
  [exitCodes.refused]: 'refused',
  [exitCodes.outOfSteps]: 'out_of_steps',
};

/** Error that ends the program with one line for the user, without a stack. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.exitCode = exitCode;
  }

  /** Returns the exit code as a word, for errors in JSON. */
  get code(): string {
    return words[this.exitCode] ?? 'interrupted';
  }
}

export const usageError = (message: string): CommandError => new CommandError(exitCodes.usage, message);
