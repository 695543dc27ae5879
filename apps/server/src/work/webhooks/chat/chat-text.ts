/** One event, as plain text that no service has read yet. */
export interface ChatEvent {
  /** A sentence. */
  readonly headline: string;
  readonly lines: readonly string[];
  /** Undefined: nobody has said where the console is. */
  readonly url: string | undefined;
}

export interface ChatText {
  readonly events: readonly ChatEvent[];
  /** Sentence on the events that are not among them; empty: all are. */
  readonly rest: string;
}
