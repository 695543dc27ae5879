import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import type { Phone } from '../phone.ts';
import { pause } from '../shell/program.ts';

/** The real server looks that often for a viewer while it has none (MjpegScreenshotStream.java). */
const wakeMs = 500;
const head =
  'HTTP/1.0 200 OK\r\nServer: Android Screenshot Socket Server\r\nConnection: close\r\nContent-Type: multipart/x-mixed-replace; boundary=--BoundaryString\r\n\r\n';

/** Pictures for one viewer, until it goes. The last one is sent again while the screen stays the same. */
export async function sendPictures(
  phone: Phone,
  stream: Duplex,
  setting: (name: string) => unknown,
): Promise<void> {
  const gone = new AbortController();
  stream.once('close', () => gone.abort());
  stream.on('error', () => gone.abort());
  const number = (name: string, usual: number) => Number(setting(name) ?? usual);
  await Promise.race([
    once(stream, 'data', { signal: gone.signal }).catch(() => {}),
    pause(gone.signal, wakeMs * 2),
  ]);
  await pause(gone.signal, wakeMs);
  stream.write(head);
  let last: { screen: unknown; jpeg: Buffer } | undefined;
  while (!gone.signal.aborted) {
    const beganAt = performance.now();
    const { screen } = phone.android;
    if (phone.instrumentation.holdsUiAutomation) {
      const jpeg =
        last?.screen === screen
          ? last.jpeg
          : await phone.camera.takeSmall(
              number('mjpegScalingFactor', 50),
              number('mjpegServerScreenshotQuality', 50),
            );
      last = { screen, jpeg };
      stream.write(
        Buffer.concat([
          Buffer.from(
            `--BoundaryString\r\nContent-type: image/jpg\r\nContent-Length: ${jpeg.length}\r\n\r\n`,
          ),
          jpeg,
          Buffer.from('\r\n\r\n'),
        ]),
      );
      if (stream.writableNeedDrain) await once(stream, 'drain', { signal: gone.signal }).catch(() => {});
    }
    const intervalMs = 1000 / number('mjpegServerFramerate', 10);
    await pause(gone.signal, Math.max(1, intervalMs - (performance.now() - beganAt)));
  }
}
