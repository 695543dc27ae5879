import type { AgentCallParams } from '@phalanx/protocol';
import sharp from 'sharp';
import { DriverError } from './driver-error.ts';

/** A picture of the screen; sizes are pixels. */
export interface EncodedPicture {
  readonly data: Buffer;
  readonly width: number;
  readonly height: number;
  readonly originalWidth: number;
  readonly originalHeight: number;
}

// Above any phone's screen; a PNG of a few bytes can claim to be gigapixels.
const maxPixels = 64 * 1024 * 1024;

/** The phone's PNG in the format, quality and size that were asked for. Pictures are never enlarged. */
export async function encodePicture(
  png: Buffer,
  { format = 'jpeg', quality = 80, maxWidth }: AgentCallParams<'screen.screenshot'>,
): Promise<EncodedPicture> {
  try {
    const source = sharp(png, { limitInputPixels: maxPixels });
    const { width: originalWidth, height: originalHeight } = await source.metadata();
    if (maxWidth !== undefined && maxWidth < originalWidth) source.resize({ width: maxWidth });
    const encoded = format === 'jpeg' ? source.jpeg({ quality }) : source.png({ compressionLevel: 6 });
    const { data, info } = await encoded.toBuffer({ resolveWithObject: true });
    return { data, width: info.width, height: info.height, originalWidth, originalHeight };
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw new DriverError(
      'phone_answer_unexpected',
      `The phone's screenshot is not a readable picture: ${text}.`,
      error,
    );
  }
}

/** Levels that JPEG makes of pure black. */
const maxBlack = 8;
/** Wide enough to find a line of text; a decoder of JPEG makes such a small picture almost for nothing. */
const lookWidth = 67;

/** Whether nothing is on the picture: so Android draws windows that forbid pictures, and a screen that is off. */
export async function isBlack({ data }: EncodedPicture): Promise<boolean> {
  const levels = await sharp(data).greyscale().resize({ width: lookWidth }).raw().toBuffer();
  return levels.every((level) => level <= maxBlack);
}
