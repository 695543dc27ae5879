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
import { pictureDigest } from './picture-digest.ts';
import type { PhoneShell } from '../shell/phone-shell.ts';

export type { HiddenParts } from './encode-picture.ts';

/** Quality at which a covered frame is encoded again. */
const frameQuality = 60;

/** Picture as the phone delivered it. Decoded on demand, because many pictures are never viewed. */
export interface TakenPicture {
  readonly sizeBytes: number;
  /** Whether this is the phone's own lossless file, many times larger than the encoded picture. */
  readonly isRaw: boolean;
  /** Digest of the phone's file, to recognize an earlier picture; undefined when part of the picture is blackened. */
  readonly digest: string | undefined;
  /** Blackens further parts, in pixels of the screen; call it before the first `finish`. */
  cover(hidden: HiddenParts): void;
  /**
   * Returns the picture in the requested form. The first call encodes it, and releases the phone's file. Rejects for a
   * black picture when the phone reports the reason; otherwise the picture has a remark.
   */
  finish(): Promise<EncodedPicture>;
}

/** Wraps a PNG file of the phone. */
export function rawPicture(
  png: Buffer,
  params: AgentCallParams<'screen.screenshot'>,
  explain: ExplainPicture = noExplanation,
): TakenPicture {
  const encode: Encode = (bytes, hidden) => encodePicture(bytes, params, hidden);
  return taken(png, { isRaw: true, explain, encode });
}

const noExplanation: ExplainPicture = async () => undefined;

/** Maximum bytes per pixel of a picture of one color. Hardly any other picture is as small. */
const blackShare = 1 / 40;

/** Wraps a PNG file right after it was taken. Asks the phone why it is black while the phone still shows the same. */
export async function justTaken(
  png: Buffer,
  params: AgentCallParams<'screen.screenshot'>,
  explain: ExplainPicture,
): Promise<TakenPicture> {
  if (!(await isPlainBlack(png))) return rawPicture(png, params, explain);
  const why = await explain();
  return rawPicture(png, params, async () => why);
}

/** Whether a picture is black. False for a file that is no picture: decoding it reports the error. */
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

/** Arbitrary size, because it does not affect whether anything is hidden. */
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
      return isCovered() ? undefined : pictureDigest(file);
    },
    cover: (part) => {
      parts.push(part);
    },
    finish: () => (finished ??= work()),
  };
}

/** Form of each frame that the helper makes. */
export const frameForm = { maxWidth: 540, quality: 40, framesPerSecond: 8 } as const;
/** Maximum wait in ms. A frame that arrives later would show another screen. */
const frameWaitMs = 400;

interface Aside {
  readonly shell: PhoneShell;
  readonly frames: FrameSource | undefined;
  /** Size of the upright display. */
  readonly display: { readonly width: number; readonly height: number };
}

/**
 * Takes a picture of about now, for which no call of user code waits. Frames that the helper's own thread scales down
 * are by far the cheapest once they flow. Their age is unknown, so they serve only people who watch the phone, and not
 * pictures whose hidden parts a tree defines.
 */
export async function takePictureAside(
  { shell, frames, display }: Aside,
  params: AgentCallParams<'screen.screenshot'>,
  signal: AbortSignal,
): Promise<TakenPicture> {
  const explain = explainerOf(shell, undefined);
  // The helper's frames show the panel that Android considers the first.
  if (frames !== undefined && !hasSeveralPanels(shell)) {
    const next = frames.next(AbortSignal.any([signal, AbortSignal.timeout(frameWaitMs)]));
    next.catch(() => {});
    const frame = frames.isFlowing ? await next.catch(() => undefined) : undefined;
    if (frame !== undefined) return smallPicture(frame, display, explain);
  }
  const shot = await explained(screencap(shell, signal), explain);
  return rawPicture(await explained(shot.file, explain), params, explain);
}
