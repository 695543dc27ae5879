import type { AgentCallParams, ScreenPicture } from '@phalanx/protocol';
import sharp from 'sharp';
import { DriverError } from './driver-error.ts';

// Above any phone's screen; a PNG of a few bytes can claim to be gigapixels.
const maxPixels = 64 * 1024 * 1024;

/** The phone's PNG in the format, quality and size that were asked for. Pictures are never enlarged. */
export async function encodeScreenshot(
  png: Buffer,
  { format = 'jpeg', quality = 80, maxWidth }: AgentCallParams<'screen.screenshot'>,
): Promise<ScreenPicture> {
  try {
    const source = sharp(png, { limitInputPixels: maxPixels });
    const { width: originalWidth, height: originalHeight } = await source.metadata();
    if (maxWidth !== undefined && maxWidth < originalWidth) source.resize({ width: maxWidth });
    const encoded = format === 'jpeg' ? source.jpeg({ quality }) : source.png({ compressionLevel: 6 });
    const { data, info } = await encoded.toBuffer({ resolveWithObject: true });
    const size = { width: info.width, height: info.height, originalWidth, originalHeight };
    return { base64: data.toString('base64'), mimeType: `image/${format}`, ...size };
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw new DriverError(
      'phone_answer_unexpected',
      `The phone's screenshot is not a readable picture: ${text}.`,
      error,
    );
  }
}
