/** One line of `phalanx doctor`. */
export interface Finding {
  /** Part of the machine or of its set-up, such as `git`. */
  readonly part: string;
  /** `note`: nothing is broken, but something may be missing for what the user wants. */
  readonly state: 'ok' | 'note' | 'problem';
  /** Text for the user: the state of the part, or the problem with its remedy. */
  readonly text: string;
}

export const ok = (part: string, text: string): Finding => ({ part, state: 'ok', text });
export const note = (part: string, text: string): Finding => ({ part, state: 'note', text });
export const problem = (part: string, text: string): Finding => ({ part, state: 'problem', text });
