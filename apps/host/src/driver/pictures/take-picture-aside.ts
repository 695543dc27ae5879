import type { AgentCallParams } from '@phalanx/protocol';
import { screencap } from '../fallback/screencap.ts';
import type { FrameSource } from '../frames/frame-source.ts';
import type { PhoneShell } from '../shell/phone-shell.ts';
import { rawPicture, smallPicture, type TakenPicture } from './taken-picture.ts';

/** What the helper is told to make of each frame. */
export const frameForm = { maxWidth: 540, quality: 40, framesPerSecond: 8 } as const;
/** A frame that does not come in time would show another screen. */
const frameWaitMs = 400;

export interface Aside {
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
