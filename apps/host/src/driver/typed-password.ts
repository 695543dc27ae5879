import { DriverError } from './driver-error.ts';

/** A password field that has the focus. */
export interface PasswordField {
  /** Identity of the field: its app, and its ID in the app. */
  readonly id: string;
  /** Dots; empty when only the hint is shown. */
  readonly shown: string;
}

/** Memory of what a password field holds, of which the phone shows only dots. */
export interface PasswordMemory {
  /** Returns the text in a field. Throws DriverError when it is not remembered. */
  textIn(field: PasswordField): string;
  remember(field: PasswordField, text: string): void;
}

/** Counts the calls of one driver that may have changed the screen or the focus. */
export class Touches {
  count = 0;
  /** Time in ms at which the last one ended, on the clock of `performance.now()`. */
  endedAt = -Infinity;
}

interface Typed {
  readonly fieldId: string;
  readonly text: string;
  readonly touches: Touches;
  readonly count: number;
  readonly at: number;
}

/** Text that was last typed into a password field. It serves only the very next call that touches the phone. */
export class TypedPassword {
  #last: Typed | undefined;

  memory(touches: Touches, keptMs: number): PasswordMemory {
    return {
      textIn: ({ id, shown }) => {
        const last = this.#last;
        this.#last = undefined;
        if (shown === '') return '';
        const isKnown =
          last?.touches === touches &&
          last.count === touches.count - 1 &&
          last.fieldId === id &&
          performance.now() - last.at < keptMs &&
          [...last.text].length === [...shown].length;
        if (isKnown) return last.text;
        throw unknownText();
      },
      remember: ({ id }, text) => {
        const { count } = touches;
        const typed = { fieldId: id, text, touches, count, at: performance.now() };
        this.#last = typed;
        setTimeout(() => {
          if (this.#last === typed) this.#last = undefined;
        }, keptMs).unref();
      },
    };
  }
}

/** Memory for callers without one. */
export const noPasswordMemory: PasswordMemory = {
  textIn({ shown }) {
    if (shown === '') return '';
    throw unknownText();
  },
  remember() {},
};

/** Returns the same message for every text, because another one would reveal how long the text is. */
const unknownText = (): DriverError =>
  new DriverError(
    'text_not_typable',
    'The password field holds a text already, which nobody can read. Clear it first: agent.actions.clearText(), or "clear": true with a step of act.',
  );
