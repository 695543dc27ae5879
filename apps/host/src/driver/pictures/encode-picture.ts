import { errorText } from '@phalanx/settings';
import type { AgentCallParams, Bounds } from '@phalanx/protocol';
import sharp, { type OverlayOptions, type Sharp } from 'sharp';

import { DriverError } from '../driver-error.ts';

/** A picture of the screen; sizes are pixels. */
export interface EncodedPicture {
  readonly data: Buffer;
  readonly width: number;
  readonly height: number;
  readonly originalWidth: number;
  readonly originalHeight: number;
  readonly remark?: string | undefined;
}

/** Parts that a picture of a screen of that size must not show. */
export type HiddenParts = (screen: Size) => readonly Bounds[];

// Limit in pixels above any phone's screen. A PNG of a few bytes can claim to be gigapixels.
const maxPixels = 64 * 1024 * 1024;

/** Opens a picture from a phone. Throws when it is larger than any screen, before any of it is decoded. */
export async function openPicture(file: Buffer): Promise<{ picture: Sharp; size: Size }> {
  const picture = sharp(file, { limitInputPixels: maxPixels });
  const { width, height } = await picture.metadata();
  if (width * height > maxPixels) throw new Error(`it has ${width} by ${height} pixels`);
  return { picture, size: { width, height } };
}

/** Returns an error for people for what `openPicture` and decoders throw. */
export function unreadablePicture(error: unknown): DriverError {
  const text = errorText(error);
  return new DriverError(
    'phone_answer_unexpected',
    `The phone's screenshot is not a readable picture: ${text}.`,
    error,
  );
}

/**
 * Encodes the phone's picture in the requested format, quality and size, with black over hidden parts. Never enlarges a
 * picture.
 */
export async function encodePicture(
  file: Buffer,
  { format = 'jpeg', quality = 80, maxWidth }: AgentCallParams<'screen.screenshot'>,
  hidden: HiddenParts = () => [],
): Promise<EncodedPicture> {
  try {
    const { picture: source, size: original } = await openPicture(file);
    const { width: originalWidth, height: originalHeight } = original;
    const width = Math.min(maxWidth ?? originalWidth, originalWidth);
    const size = { width, height: Math.round((originalHeight * width) / originalWidth) };
    if (width < originalWidth) source.resize(size);
    source.composite(
      blackOver(hidden({ width: originalWidth, height: originalHeight }), size, width / originalWidth),
    );
    const encoded = format === 'jpeg' ? source.jpeg({ quality }) : source.png({ compressionLevel: 6 });
    const { data, info } = await encoded.toBuffer({ resolveWithObject: true });
    return { data, width: info.width, height: info.height, originalWidth, originalHeight };
  } catch (error) {
    throw unreadablePicture(error);
  }
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Returns black boxes in whole pixels, rounded outwards. */
function blackOver(hidden: readonly Bounds[], { width, height }: Size, scale: number): OverlayOptions[] {
  return hidden.flatMap((bounds) => {
    const left = Math.max(0, Math.floor(bounds.left * scale));
    const top = Math.max(0, Math.floor(bounds.top * scale));
    const size = {
      width: Math.min(width, Math.ceil(bounds.right * scale)) - left,
      height: Math.min(height, Math.ceil(bounds.bottom * scale)) - top,
    };
    if (size.width <= 0 || size.height <= 0) return [];
    return [{ input: { create: { ...size, channels: 3, background: 'black' } }, left, top }];
  });
}

/** Maximum level that JPEG makes of pure black. */
const maxBlack = 8;
/** Width in pixels, enough to find a line of text. A JPEG decoder makes such a small picture almost for free. */
const lookWidth = 67;

/**
 * Whether a picture shows nothing. Android draws windows that forbid pictures in black, as well as a screen that is
 * off; some apps draw black too.
 */
export async function isBlack({ data }: Pick<EncodedPicture, 'data'>): Promise<boolean> {
  const levels = await sharp(data, { limitInputPixels: maxPixels })
    .greyscale()
    .resize({ width: lookWidth })
    .raw()
    .toBuffer();
  return levels.every((level) => level <= maxBlack);
}
