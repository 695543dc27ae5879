import { createHash } from 'node:crypto';

import type { AgentCallParams, Bounds } from '@phalanx/protocol';

import {
  type EncodedPicture,
  encodePicture,
  type HiddenParts,
  isBlack,
  openPicture,
  unreadablePicture,
  blackPicture,
} from './encode-picture.ts';
import { screencap } from '../fallback/screencap.ts';
import type { FrameSource } from '../frames/frame-source.ts';
import type { PhoneShell } from '../shell/phone-shell.ts';

export type { HiddenParts } from './encode-picture.ts';

/** What a covered frame is encoded with again. */
const frameQuality = 60;

/** A picture as the phone gave it: what nobody looks at need not be decoded. */
export interface TakenPicture {
  readonly sizeBytes: number;
  /** As the phone's own lossless file, many times larger than it will be. */
  readonly isRaw: boolean;
  /** Of the phone's file, for who has seen the same before; undefined where something of it is blackened. */
  readonly digest: string | undefined;
  /** Blackens these parts as well, in pixels of the screen; before the first `finish`. */
  cover(hidden: HiddenParts): void;
  /** In the form that was asked for; the first call makes it, and lets go of the phone's file. Rejects for a black one. */
  finish(): Promise<EncodedPicture>;
}

/** A PNG file of the phone. */
export function rawPicture(png: Buffer, params: AgentCallParams<'screen.screenshot'>): TakenPicture {
  return taken(png, true, (bytes, hidden) => encodePicture(bytes, params, hidden));
}

/** A JPEG file that the phone has made in the right size. */
export function smallPicture(
  jpeg: Buffer,
  display: { readonly width: number; readonly height: number },
): TakenPicture {
  return taken(jpeg, false, async (bytes, hidden) => {
    const { width, height } = await openPicture(bytes).then(
      ({ size }) => size,
      (error: unknown) => Promise.reject(unreadablePicture(error)),
    );
    const isTurned = width > height !== display.width > display.height;
    const original = isTurned
      ? { originalWidth: display.height, originalHeight: display.width }
      : { originalWidth: display.width, originalHeight: display.height };
    const inPicture = hidden({ width: original.originalWidth, height: original.originalHeight }).map(
      (bounds) => scaled(bounds, width / original.originalWidth),
    );
    const data =
      inPicture.length === 0
        ? bytes
        : (await encodePicture(bytes, { quality: frameQuality }, () => inPicture)).data;
    return { data, width, height, ...original };
  });
}

/** Of what is hidden, only whether there is anything depends on no size. */
const anySize = { width: 1000, height: 1000 };

const scaled = ({ left, top, right, bottom }: Bounds, scale: number): Bounds => ({
  left: left * scale,
  top: top * scale,
  right: right * scale,
  bottom: bottom * scale,
});

function taken(
  file: Buffer,
  isRaw: boolean,
  encode: (bytes: Buffer, hidden: HiddenParts) => Promise<EncodedPicture>,
): TakenPicture {
  let bytes: Buffer | undefined = file;
  let size = file.byteLength;
  const parts: HiddenParts[] = [];
  const hidden: HiddenParts = (screen) => parts.flatMap((part) => part(screen));
  let finished: Promise<EncodedPicture> | undefined;
  const work = async (): Promise<EncodedPicture> => {
    const picture = await encode(bytes ?? Buffer.alloc(0), hidden).finally(() => (bytes = undefined));
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
    get digest() {
      const isCovered = parts.some((part) => part(anySize).length > 0);
      return isCovered ? undefined : createHash('sha1').update(file).digest('base64url');
    },
    cover: (part) => {
      parts.push(part);
    },
    finish: () => (finished ??= work()),
  };
}

/** What the helper is told to make of each frame. */
export const frameForm = { maxWidth: 540, quality: 40, framesPerSecond: 8 } as const;
/** A frame that does not come in time would show another screen. */
const frameWaitMs = 400;

interface Aside {
  readonly shell: PhoneShell;
  readonly frames: FrameSource | undefined;
  /** Upright. */
  readonly display: { readonly width: number; readonly height: number };
}

/**
 * A picture of about now, that no call of user code waits for. Frames that the helper's own thread makes small are the
 * cheapest by far, once they flow; but how old one is nobody knows: they are for who looks at the phone alone, and not
 * where a tree tells what of a picture must not be seen.
 */
export async function takePictureAside(
  { shell, frames, display }: Aside,
  params: AgentCallParams<'screen.screenshot'>,
  signal: AbortSignal,
): Promise<TakenPicture> {
  if (frames !== undefined) {
    const next = frames.next(AbortSignal.any([signal, AbortSignal.timeout(frameWaitMs)]));
    next.catch(() => {});
    const frame = frames.isFlowing ? await next.catch(() => undefined) : undefined;
    if (frame !== undefined) return smallPicture(frame, display);
  }
  return rawPicture(await (await screencap(shell, signal)).file, params);
}
