import { DriverError } from '../driver-error.ts';
import type { HelperSession } from './helper-session.ts';

/** From this one on (Android 10), only the app in front and the keyboard are shown what the clipboard holds. */
const closedSinceSdk = 29;

/** Where Android shows the clipboard to others, the helper gets an empty text and no error. */
export async function readClipboard(
  session: HelperSession,
  sdkVersion: number,
  signal: AbortSignal,
): Promise<string> {
  const value = await session.post('appium/device/get_clipboard', {}, signal);
  const text = Buffer.from(typeof value === 'string' ? value : '', 'base64').toString();
  if (text !== '' || sdkVersion < closedSinceSdk) return text;
  throw new DriverError(
    'clipboard_refused',
    'Android 10 and newer show the clipboard to the app in front alone, or it is empty. Paste it into a field (inputKey("PASTE")), and read that.',
  );
}

export async function writeClipboard(
  session: HelperSession,
  text: string,
  signal: AbortSignal,
): Promise<void> {
  const content = Buffer.from(text).toString('base64');
  await session.post('appium/device/set_clipboard', { content, contentType: 'PLAINTEXT' }, signal);
}
