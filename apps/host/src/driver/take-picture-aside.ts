import type { AgentCallParams } from '@phalanx/protocol';
import { type EncodedPicture, encodePicture, isBlack } from './encode-picture.ts';
import { blackPicture } from './encode-screenshot.ts';
import { screencap } from './fallback/screencap.ts';
import type { PhoneShell } from './phone-shell.ts';

/**
 * A picture that no call of user code waits for. The UiAutomator2 server would make the next call wait while it encodes
 * a PNG; `screencap` is a process of its own, and takes the pixels when it starts.
 */
export async function takePictureAside(
  shell: PhoneShell,
  params: AgentCallParams<'screen.screenshot'>,
  signal: AbortSignal,
): Promise<EncodedPicture> {
  const picture = await encodePicture(await screencap(shell, signal), params);
  if (!(await isBlack(picture))) return picture;
  throw blackPicture();
}
