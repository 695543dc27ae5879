import type { AgentCallParams, ScreenPicture } from '@phalanx/protocol';
import { encodePicture } from './encode-picture.ts';

/** As `encodePicture`, in the form that user code gets. */
export async function encodeScreenshot(
  png: Buffer,
  params: AgentCallParams<'screen.screenshot'>,
): Promise<ScreenPicture> {
  const { data, ...size } = await encodePicture(png, params);
  return { base64: data.toString('base64'), mimeType: `image/${params.format ?? 'jpeg'}`, ...size };
}
