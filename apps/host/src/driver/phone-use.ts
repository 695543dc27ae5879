import { type PasswordMemory, type Touches, TypedPassword } from './typed-password.ts';

interface UseOptions {
  readonly by?: string | undefined;
  readonly onCopy?: ((use: PhoneUse) => void) | undefined;
}

/**
 * Use of a phone by one run, or by one user by hand. Owns what is remembered for its next call, so that no other use
 * can access it.
 */
export class PhoneUse {
  /** Aborts when the use has ended; its waiting calls are then cancelled. */
  readonly over: AbortSignal;
  /** User, as in `HostTouch.by`; undefined when unknown. */
  readonly by: string | undefined;
  readonly #password = new TypedPassword();
  readonly #onCopy: ((use: PhoneUse) => void) | undefined;

  /** Creates a use. `onCopy` is called before the use writes to the clipboard. */
  constructor(over: AbortSignal, { by, onCopy }: UseOptions = {}) {
    this.over = over;
    this.by = by;
    this.#onCopy = onCopy;
  }

  /** Notes a copy; call it before writing to the clipboard for this use. */
  copies(): void {
    this.#onCopy?.(this);
  }

  /** Returns the memory of a password, which lasts for `keptMs` while `touches` counts no other call. */
  passwordMemory(touches: Touches, keptMs: number): PasswordMemory {
    return this.#password.memory(touches, keptMs);
  }
}
