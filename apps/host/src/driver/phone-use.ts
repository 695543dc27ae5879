import { type PasswordMemory, type Touches, TypedPassword } from './typed-password.ts';

/**
 * The use of a phone by one run, or by one user by hand. What is remembered for its next call is a part of it, so that nobody
 * else can meet it.
 */
export class PhoneUse {
  /** Aborted when it has ended: its calls that wait are not done any more. */
  readonly over: AbortSignal;
  readonly #password = new TypedPassword();

  constructor(over: AbortSignal) {
    this.over = over;
  }

  /** Remembers for `keptMs`, while `touches` counts nothing else. */
  passwordMemory(touches: Touches, keptMs: number): PasswordMemory {
    return this.#password.memory(touches, keptMs);
  }
}
