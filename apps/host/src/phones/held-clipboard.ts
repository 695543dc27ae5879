import type { Driver } from '../driver/driver.ts';
import type { PhoneUse } from '../driver/phone-use.ts';

/** Clears the texts that users have copied on one phone: when their use ends, or when another user takes the phone. */
export class HeldClipboard {
  #driver: Driver | undefined;
  #user: PhoneUse | undefined;
  /** Whether the clipboard still has to be cleared, because the phone was away at the time. */
  #isLeft = false;

  /** Records the use that writes the clipboard. Call it before the write. */
  filledBy(use: PhoneUse): void {
    this.#user = use;
    this.#isLeft = false;
    use.over.addEventListener('abort', () => this.#leave(use), { once: true });
  }

  /** Records a use. Call it before the first call of the use. */
  usedBy({ by }: PhoneUse): void {
    const user = this.#user;
    if (user !== undefined && by !== user.by) this.#leave(user);
  }

  setDriver(driver: Driver | undefined): void {
    this.#driver = driver;
    if (this.#isLeft) this.#empty();
  }

  #leave(use: PhoneUse): void {
    if (this.#user !== use) return;
    this.#user = undefined;
    this.#isLeft = true;
    this.#empty();
  }

  /** Clears the clipboard ahead of all later calls. */
  #empty(): void {
    const emptied = this.#driver?.call('clipboard.write', { text: '' });
    // A failure is ignored: the next driver retries.
    void emptied?.then(
      () => (this.#isLeft = false),
      () => undefined,
    );
  }
}
