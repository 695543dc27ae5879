/** Event as plain text, not yet escaped for a service. */
export interface ChatEvent {
  /** Sentence about the event. */
  readonly headline: string;
  readonly lines: readonly string[];
  /** URL of the event in the console; undefined when the public URL of the console is not configured. */
  readonly url: string | undefined;
}

export interface ChatText {
  readonly events: readonly ChatEvent[];
  /** Sentence about the omitted events; empty when none are omitted. */
  readonly rest: string;
}
