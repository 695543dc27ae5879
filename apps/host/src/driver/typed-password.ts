import { DriverError } from './driver-error.ts';

/** A password field that has the focus. */
export interface PasswordField {
  /** Tells it from other fields: its app and its ID in it. */
  readonly id: string;
  /** Dots; empty where only the hint is shown. */
  readonly shown: string;
}

/** Brings to mind what a password field holds, of which only dots are shown. */
export interface PasswordMemory {
  /** Throws DriverError when the field holds what is not remembered. */
  textIn(field: PasswordField): string;
  remember(field: PasswordField, text: string): void;
}

/** Counts the calls of one driver that may have changed the screen or the focus. */
export class Touches {
  count = 0;
  /** Time at which the last one ended, on the clock of `performance.now()`. */
  endedAt = -Infinity;
}

interface Typed {
  readonly fieldId: string;
  readonly text: string;
  readonly touches: Touches;
  readonly count: number;
  readonly at: number;
}

/** The text typed last into a password field. It is of use to the very next call alone that touches the phone. */
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

/** Memory of callers that have none. */
export const noPasswordMemory: PasswordMemory = {
  textIn({ shown }) {
    if (shown === '') return '';
    throw unknownText();
  },
  remember() {},
};

/** Says the same of every text, or it would tell how long one is. */
const unknownText = (): DriverError =>
  new DriverError(
    'text_not_typable',
    'The password field holds a text already, which nobody can read. Clear it first: agent.actions.clearText(), or "clear": true with a step of act.',
  );
