import type { PhoneCallName } from '@phalanx/protocol';

import { DriverError } from '../driver/driver-error.ts';
import type { Phone } from './phone.ts';

const homeKey = 3;

/** Calls that touch the foreground app, or read what was copied there. */
const touching = /^(?:input|alert|clipboard)\.|^navigate\.(?:back|recents)$/;

/** Whether a call touches the foreground app. The Home key leaves it. */
export const touchesApp = (name: PhoneCallName, keyCode?: number): boolean =>
  touching.test(name) && keyCode !== homeKey;

/**
 * Throws while the foreground app shows a secret that another user has typed, because later input or copied text could
 * reveal it. Call it before each touch of that app, by hand or by a run; `by` is the user as in `HostTouch.by`. The
 * screen is read only on a phone with such a field.
 */
export async function requireNoSecretOfOthers(
  phone: Pick<Phone, 'typedSecrets' | 'driver'>,
  by: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (by === undefined || !phone.typedSecrets.areOfOthers(by)) return;
  // Reading the screen also updates which of these fields are empty or out of view.
  const { root } = await phone.driver().call('screen.content', {}, signal);
  const app = root.packageName ?? '';
  if (!phone.typedSecrets.appsOfOthers(by).has(app)) return;
  throw new DriverError(
    'input_refused',
    `A secret that somebody else has typed stands in a field of ${app}. Press Home or launch another app; the field has to be empty or gone before others touch this app.`,
  );
}
