import type { AgentCallParams } from '@phalanx/protocol';
import { screencap } from './fallback/screencap.ts';
import type { FrameSource } from './frames/frame-source.ts';
import type { PhoneShell } from './phone-shell.ts';
import { rawPicture, smallPicture, type TakenPicture } from './taken-picture.ts';

/** What the helper is told to make of each frame. */
export const frameForm = { maxWidth: 540, quality: 40, framesPerSecond: 8 } as const;
/** A frame that does not come in time would show another screen. */
const frameWaitMs = 400;

export interface Aside {
  readonly shell: PhoneShell;
  readonly frames: FrameSource | undefined;
  /** Upright. */
  readonly display: () => { readonly width: number; readonly height: number };
}

/**
 * A picture that no call of user code waits for. Frames that the helper's own thread makes small are the cheapest by
 * far, once they flow. Else `screencap` is a process of its own that takes the pixels when it starts, where the helper
 * would make the next call wait while it encodes a PNG.
 */
export async function takePictureAside(
  { shell, frames, display }: Aside,
  params: AgentCallParams<'screen.screenshot'>,
  signal: AbortSignal,
): Promise<TakenPicture> {
  if (frames !== undefined && isSmall(params)) {
    const next = frames.next(AbortSignal.any([signal, AbortSignal.timeout(frameWaitMs)]));
    next.catch(() => {});
    const frame = frames.isFlowing ? await next.catch(() => undefined) : undefined;
    if (frame !== undefined) return smallPicture(frame, display());
  }
  return rawPicture(await screencap(shell, signal), params);
}

function isSmall({ format, quality = 80, maxWidth }: AgentCallParams<'screen.screenshot'>): boolean {
  return format === 'jpeg' && quality <= frameForm.quality && maxWidth === frameForm.maxWidth;
}
