import { createHash } from 'node:crypto';

import type { AgentCallParams, Bounds, ScreenPicture } from '@phalanx/protocol';

import {
  type EncodedPicture,
  encodePicture,
  type HiddenParts,
  isBlack,
  openPicture,
  unreadablePicture,
} from './encode-picture.ts';
import { screencap } from '../fallback/screencap.ts';
import { hasSeveralPanels } from './main-panel.ts';
import {
  blackRemark,
  coveredPicture,
  type ExplainPicture,
  explained,
  explainerOf,
} from './missing-picture.ts';
import type { FrameSource } from '../frames/frame-source.ts';
import type { PhoneShell } from '../shell/phone-shell.ts';

export type { HiddenParts } from './encode-picture.ts';

/** Quality at which a covered frame is encoded again. */
const frameQuality = 60;

/** A picture as the phone gave it: what nobody looks at need not be decoded. */
export interface TakenPicture {
  readonly sizeBytes: number;
  /** Whether this is the phone's own lossless file, many times larger than the encoded picture. */
  readonly isRaw: boolean;
  /** Digest of the phone's file, to recognize what was seen before; undefined where something of it is blackened. */
  readonly digest: string | undefined;
  /** Blackens these parts as well, in pixels of the screen; before the first `finish`. */
  cover(hidden: HiddenParts): void;
  /**
   * In the form that was asked for; the first call makes it, and lets go of the phone's file. Rejects for a black one where the phone tells
   * why; where it does not, the picture has a remark.
   */
  finish(): Promise<EncodedPicture>;
}

/** A PNG file of the phone. */
export function rawPicture(
  png: Buffer,
  params: AgentCallParams<'screen.screenshot'>,
  explain: ExplainPicture = noExplanation,
): TakenPicture {
  const encode: Encode = (bytes, hidden) => encodePicture(bytes, params, hidden);
  return taken(png, { isRaw: true, explain, encode });
}

const noExplanation: ExplainPicture = async () => undefined;

/** A picture of one color takes less than that of a byte a pixel, and hardly any other one does. */
const blackShare = 1 / 40;

/** The same right after it was taken: the phone is asked why it is black while it still shows what it did then. */
export async function justTaken(
  png: Buffer,
  params: AgentCallParams<'screen.screenshot'>,
  explain: ExplainPicture,
): Promise<TakenPicture> {
  if (!(await isPlainBlack(png))) return rawPicture(png, params, explain);
  const why = await explain();
  return rawPicture(png, params, async () => why);
}

/** False also for what is no picture: who wants it is told. */
async function isPlainBlack(png: Buffer): Promise<boolean> {
  const opened = await openPicture(png).catch(() => undefined);
  if (opened === undefined) return false;
  const { width, height } = opened.size;
  return png.length < width * height * blackShare && (await isBlack({ data: png }).catch(() => false));
}

interface Looked {
  readonly hidden?: HiddenParts;
  readonly explain?: ExplainPicture;
}

/** Encodes a picture in the form that user code gets. */
export async function encodeScreenshot(
  png: Buffer,
  params: AgentCallParams<'screen.screenshot'>,
  { hidden = () => [], explain }: Looked = {},
): Promise<ScreenPicture> {
  const picture = rawPicture(png, params, explain);
  picture.cover(hidden);
  const { data, remark, ...size } = await picture.finish();
  const mimeType = `image/${params.format ?? 'jpeg'}` as const;
  return { base64: data.toString('base64'), mimeType, ...size, ...(remark !== undefined && { remark }) };
}

/** A JPEG file that the phone has made in the right size. */
export function smallPicture(
  jpeg: Buffer,
  display: { readonly width: number; readonly height: number },
  explain: ExplainPicture = noExplanation,
): TakenPicture {
  const encode: Encode = async (bytes, hidden) => {
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
  };
  return taken(jpeg, { isRaw: false, explain, encode });
}

/** Arbitrary size: whether anything is hidden does not depend on it. */
const anySize = { width: 1000, height: 1000 };

const scaled = ({ left, top, right, bottom }: Bounds, scale: number): Bounds => ({
  left: left * scale,
  top: top * scale,
  right: right * scale,
  bottom: bottom * scale,
});

type Encode = (bytes: Buffer, hidden: HiddenParts) => Promise<EncodedPicture>;

interface Making {
  readonly isRaw: boolean;
  readonly explain: ExplainPicture;
  readonly encode: Encode;
}

function taken(file: Buffer, { isRaw, explain, encode }: Making): TakenPicture {
  let bytes: Buffer | undefined = file;
  let size = file.byteLength;
  const parts: HiddenParts[] = [];
  const hidden: HiddenParts = (screen) => parts.flatMap((part) => part(screen));
  const isCovered = (): boolean => parts.some((part) => part(anySize).length > 0);
  let finished: Promise<EncodedPicture> | undefined;
  const work = async (): Promise<EncodedPicture> => {
    const source = bytes ?? Buffer.alloc(0);
    const picture = await encode(source, hidden).finally(() => (bytes = undefined));
    size = picture.data.byteLength;
    if (!(await isBlack(picture))) return picture;
    if (isCovered() && !(await isBlack({ data: source }))) throw coveredPicture();
    const why = await explain();
    if (why !== undefined) throw why;
    return { ...picture, remark: blackRemark };
  };
  return {
    get sizeBytes() {
      return size;
    },
    get isRaw() {
      return isRaw && bytes !== undefined;
    },
    get digest() {
      return isCovered() ? undefined : createHash('sha1').update(file).digest('base64url');
    },
    cover: (part) => {
      parts.push(part);
    },
    finish: () => (finished ??= work()),
  };
}

/** Form of each frame that the helper makes. */
export const frameForm = { maxWidth: 540, quality: 40, framesPerSecond: 8 } as const;
/** A frame that does not come in time would show another screen. */
const frameWaitMs = 400;

interface Aside {
  readonly shell: PhoneShell;
  readonly frames: FrameSource | undefined;
  /** Size of the upright display. */
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
  const explain = explainerOf(shell, undefined);
  // The helper's frames are of the panel that Android takes for the first.
  if (frames !== undefined && !hasSeveralPanels(shell)) {
    const next = frames.next(AbortSignal.any([signal, AbortSignal.timeout(frameWaitMs)]));
    next.catch(() => {});
    const frame = frames.isFlowing ? await next.catch(() => undefined) : undefined;
    if (frame !== undefined) return smallPicture(frame, display, explain);
  }
  const shot = await explained(screencap(shell, signal), explain);
  return rawPicture(await explained(shot.file, explain), params, explain);
}
