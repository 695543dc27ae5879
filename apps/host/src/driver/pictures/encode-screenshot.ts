import type { AgentCallParams, ScreenPicture } from '@phalanx/protocol';
import { DriverError } from '../driver-error.ts';
import { encodePicture, type HiddenParts, isBlack } from './encode-picture.ts';

/** So Android draws a window that forbids pictures, on phones that give a picture of it at all. */
export function blackPicture(): DriverError {
  return new DriverError(
    'secure_screen',
    "The phone's picture is all black: the app in front forbids pictures (FLAG_SECURE), the screen is off, or masks.json of the project covers all of it.",
  );
}

/** As `encodePicture`, in the form that user code gets. */
export async function encodeScreenshot(
  png: Buffer,
  params: AgentCallParams<'screen.screenshot'>,
  hidden?: HiddenParts,
): Promise<ScreenPicture> {
  const picture = await encodePicture(png, params, hidden);
  if (await isBlack(picture)) throw blackPicture();
  const { data, ...size } = picture;
  return { base64: data.toString('base64'), mimeType: `image/${params.format ?? 'jpeg'}`, ...size };
}
