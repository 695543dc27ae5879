import type { Driver } from '../driver/driver.ts';
import type { PhoneUse } from '../driver/phone-use.ts';

/** The texts that users have put on the clipboard of one phone: it is emptied when their use ends, or when somebody else uses the phone. */
export class HeldClipboard {
  #driver: Driver | undefined;
  #user: PhoneUse | undefined;
  /** The phone was away when it should have been emptied. */
  #isLeft = false;

  /** Notes the use that writes it; call it before it is written. */
  filledBy(use: PhoneUse): void {
    this.#user = use;
    this.#isLeft = false;
    use.over.addEventListener('abort', () => this.#leave(use), { once: true });
  }

  /** Notes the use; call it before its first call. */
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

  /** Empties it before the calls that come from here on. */
  #empty(): void {
    const emptied = this.#driver?.call('clipboard.write', { text: '' });
    // Ignores a failure: the next driver tries again.
    void emptied?.then(
      () => (this.#isLeft = false),
      () => undefined,
    );
  }
}
