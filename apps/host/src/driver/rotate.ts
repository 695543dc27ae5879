import { DriverError } from './driver-error.ts';
import type { PhoneShell } from './shell/phone-shell.ts';

/**
 * Turns the screen by quarters from upright, and keeps it there: with the sensor on, the phone would turn back by itself. The setting is read
 * back; an app that has one orientation alone stays as it is. Throws `not_done` where the phone does not take it.
 */
export async function rotate(shell: PhoneShell, quarterTurns: number, signal: AbortSignal): Promise<void> {
  const { stdout, stderr } = await shell.run(
    `settings put system accelerometer_rotation 0; settings put system user_rotation ${quarterTurns}; settings get system user_rotation`,
    signal,
  );
  const [kept = ''] = stdout.trim().split('\n').slice(-1);
  if (kept.trim() === String(quarterTurns)) return;
  const said = stderr.replaceAll(/\s+/g, ' ').trim().slice(0, 200);
  const why = said === '' ? `its setting user_rotation is ${JSON.stringify(kept.slice(0, 100))}` : said;
  throw new DriverError('not_done', `The phone did not turn its screen: ${why}.`);
}
