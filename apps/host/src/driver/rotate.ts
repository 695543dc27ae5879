import { DriverError } from './driver-error.ts';
import type { PhoneShell } from './shell/phone-shell.ts';

/**
 * Rotates the screen by quarter turns from upright, and keeps it there: with the sensor on, the phone would rotate back
 * by itself. Reads the setting back. An app with a single orientation stays as it is. Throws `not_done` when the phone
 * does not keep the setting.
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
