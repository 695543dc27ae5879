import { type PasswordMemory, type Touches, TypedPassword } from './typed-password.ts';

interface UseOptions {
  readonly by?: string | undefined;
  readonly onCopy?: ((use: PhoneUse) => void) | undefined;
}

/**
 * The use of a phone by one run, or by one user by hand. What is remembered for its next call is a part of it, so that nobody
 * else can meet it.
 */
export class PhoneUse {
  /** Aborted when it has ended: its calls that wait are not done any more. */
  readonly over: AbortSignal;
  /** The user, as `HostTouch.by` says it; undefined: not known. */
  readonly by: string | undefined;
  readonly #password = new TypedPassword();
  readonly #onCopy: ((use: PhoneUse) => void) | undefined;

  /** `onCopy`: called before it puts something on the clipboard. */
  constructor(over: AbortSignal, { by, onCopy }: UseOptions = {}) {
    this.over = over;
    this.by = by;
    this.#onCopy = onCopy;
  }

  /** Notes a copy; call it before something is put on the clipboard for this use. */
  copies(): void {
    this.#onCopy?.(this);
  }

  /** Remembers for `keptMs`, while `touches` counts nothing else. */
  passwordMemory(touches: Touches, keptMs: number): PasswordMemory {
    return this.#password.memory(touches, keptMs);
  }
}
