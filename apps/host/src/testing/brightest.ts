import type { Bounds } from '@phalanx/protocol';
import sharp, { type Region } from 'sharp';

/** Returns the brightest level (0 to 255) of a part of a screen of 1080 by 2400 pixels in its picture. */
export async function brightest(picture: Buffer, { left, top, right, bottom }: Bounds): Promise<number> {
  const { width } = await sharp(picture).metadata();
  const scale = width / 1080;
  // JPEG lets the colours around a black part bleed into it.
  const inner = { left: left + 20, top: top + 20, width: right - left - 40, height: bottom - top - 40 };
  const part = Object.fromEntries(
    Object.entries(inner).map(([name, value]) => [name, Math.floor(value * scale)]),
  );
  const { channels } = await sharp(picture)
    .extract(part as unknown as Region)
    .greyscale()
    .toBuffer()
    .then((bytes) => sharp(bytes).stats());
  return channels[0]?.max ?? 255;
}
