import type { AgentCallParams } from '@phalanx/protocol';
import sharp from 'sharp';
import { type EncodedPicture, encodePicture, isBlack } from './encode-picture.ts';
import { blackPicture } from './encode-screenshot.ts';

/** A picture as the phone gave it: what nobody looks at need not be decoded. */
export interface TakenPicture {
  readonly sizeBytes: number;
  /** As the phone's own lossless file, many times larger than it will be. */
  readonly isRaw: boolean;
  /** In the form that was asked for; the first call makes it, and lets go of the phone's file. Rejects for a black one. */
  finish(): Promise<EncodedPicture>;
}

/** A PNG file of the phone. */
export function rawPicture(png: Buffer, params: AgentCallParams<'screen.screenshot'>): TakenPicture {
  return taken(png, true, (bytes) => encodePicture(bytes, params));
}

/** A JPEG file that the phone has made in the right size. */
export function smallPicture(
  jpeg: Buffer,
  display: { readonly width: number; readonly height: number },
): TakenPicture {
  return taken(jpeg, false, async (data) => {
    const { width, height } = await sharp(data).metadata();
    const isTurned = width > height !== display.width > display.height;
    return {
      data,
      width,
      height,
      originalWidth: isTurned ? display.height : display.width,
      originalHeight: isTurned ? display.width : display.height,
    };
  });
}

function taken(
  file: Buffer,
  isRaw: boolean,
  encode: (bytes: Buffer) => Promise<EncodedPicture>,
): TakenPicture {
  let bytes: Buffer | undefined = file;
  let size = file.byteLength;
  let finished: Promise<EncodedPicture> | undefined;
  const work = async (): Promise<EncodedPicture> => {
    const picture = await encode(bytes ?? Buffer.alloc(0)).finally(() => (bytes = undefined));
    size = picture.data.byteLength;
    if (await isBlack(picture)) throw blackPicture();
    return picture;
  };
  return {
    get sizeBytes() {
      return size;
    },
    get isRaw() {
      return isRaw && bytes !== undefined;
    },
    finish: () => (finished ??= work()),
  };
}
