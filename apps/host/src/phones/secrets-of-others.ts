import { DriverError } from '../driver/driver-error.ts';
import type { Phone } from './phone.ts';

const homeKey = 3;

/** Whether a key leaves the app in front, without a touch of it. */
export const leavesApp = (keyCode: number): boolean => keyCode === homeKey;

/**
 * Throws while a secret that somebody else has typed stands in the app in front: what is typed or copied there could show it. To be
 * called before each touch of that app, by hand or by a run of `by`, as `HostTouch.by` says it. The screen is read only on a phone with
 * such a field.
 */
export async function requireNoSecretOfOthers(
  phone: Pick<Phone, 'typedSecrets' | 'driver'>,
  by: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (by === undefined || phone.typedSecrets.appsOfOthers(by).size === 0) return;
  // Reading the screen ends what has gone.
  const { root } = await phone.driver().call('screen.content', {}, signal);
  const app = root.packageName ?? '';
  if (!phone.typedSecrets.appsOfOthers(by).has(app)) return;
  throw new DriverError(
    'input_refused',
    `A secret that somebody else has typed stands in a field of ${app}. Press Home or launch another app; the field has to be empty or gone before others touch this app.`,
  );
}
