import type { Phone, PhoneStateName } from '../phone.ts';
import type { PhoneWatch } from '../watch-phones.ts';

/** Resolves with the first phone that fits, now or after a change. For tests; the test's own limit ends a wait in vain. */
export function waitForPhone(watch: PhoneWatch, fits: (phone: Phone) => boolean): Promise<Phone> {
  return new Promise((resolve) => {
    const look = (): boolean => {
      const phone = watch.phones().find(fits);
      if (phone === undefined) return false;
      resolve(phone);
      return true;
    };
    if (look()) return;
    const stop = watch.onChange(() => {
      if (look()) stop();
    });
  });
}

export function waitForState(watch: PhoneWatch, serial: string, ...states: PhoneStateName[]): Promise<Phone> {
  return waitForPhone(watch, (phone) => phone.serial === serial && states.includes(phone.state.state));
}
