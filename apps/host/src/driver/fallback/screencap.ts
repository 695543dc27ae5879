import { DriverError } from '../driver-error.ts';
import type { PhoneShell } from '../phone-shell.ts';

const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** The screen as a PNG file, by Android's own command. Foldables print a warning before the picture. */
export async function screencap(shell: PhoneShell, signal: AbortSignal): Promise<Buffer> {
  const output = await shell.exec('screencap -p', signal);
  const start = output.indexOf(pngSignature);
  if (start !== -1) return output.subarray(start);
  const said = output.toString('latin1').replace(/\s+/g, ' ').trim().slice(0, 200);
  if (output.length === 0 || /secure|status -?\d+|Failed to (take|capture)|error/i.test(said)) {
    throw new DriverError(
      'secure_screen',
      `The phone gave no picture of its screen (${said || 'it printed nothing'}). The app in front forbids pictures (FLAG_SECURE), or the screen is off.`,
    );
  }
  throw new DriverError('phone_answer_unexpected', `The phone's "screencap" printed no PNG: ${said}.`);
}
