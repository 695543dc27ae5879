import type { Bounds, DeviceScreen } from '@phalanx/protocol';

import type { ServiceClock } from '../connection/service-clock.ts';
import type { Driver } from '../driver/driver.ts';
import { DriverError } from '../driver/driver-error.ts';
import type { EncodedPicture } from '../driver/encode-picture.ts';
import { hiddenBounds } from '../driver/tree/hidden-bounds.ts';
import { type AnswerOptions, answerRequest, type PhoneRequest } from './answer-request.ts';

const usualWidth = 1080;

/** Answers one `screen` of the server: JSON of a `DeviceScreen`. */
export const answerScreen = (
  request: PhoneRequest & { width: number | null },
  { clock, ...options }: AnswerOptions & { clock: ServiceClock },
): Promise<void> =>
  answerRequest({ ...request, type: 'screen' }, options, async (phone, signal) =>
    Buffer.from(
      JSON.stringify(await readScreen(phone.driver(), { clock, width: request.width ?? usualWidth, signal })),
    ),
  );

interface Reading {
  readonly clock: ServiceClock;
  readonly width: number;
  readonly signal: AbortSignal;
}

/** The picture follows the tree at once: an automation that runs on the phone can come between calls, but not here. */
async function readScreen(driver: Driver, { clock, width, signal }: Reading): Promise<DeviceScreen> {
  const { root, packageName, rotation, source, capturedAt } = await driver.call('screen.content', {}, signal);
  const picture = await findPicture(driver, { width, hidden: hiddenBounds(root), signal });
  return {
    captured_at: clock.toService(capturedAt),
    rotation,
    ...(await sizeOf(driver, { picture, rotation, signal })),
    picture: picture && { mime_type: 'image/jpeg', base64: picture.data.toString('base64') },
    tree: { packageName, source, root: { ...root } },
  };
}

/** Null when the phone shows none: a secure window, or the screen is off. */
async function findPicture(
  driver: Driver,
  { width, hidden, signal }: { width: number; hidden: readonly Bounds[]; signal: AbortSignal },
): Promise<EncodedPicture | null> {
  try {
    const taken = await driver.takePictureAside({ format: 'jpeg', maxWidth: width }, signal);
    taken.cover(() => hidden);
    return await taken.finish();
  } catch (error) {
    if (error instanceof DriverError && error.code === 'secure_screen') return null;
    throw error;
  }
}

/** As the screen is rotated; the phone describes itself upright. */
async function sizeOf(
  driver: Driver,
  { picture, rotation, signal }: { picture: EncodedPicture | null; rotation: number; signal: AbortSignal },
): Promise<{ width: number; height: number }> {
  if (picture !== null) return { width: picture.originalWidth, height: picture.originalHeight };
  const { screenWidth, screenHeight } = await driver.call('device.info', {}, signal);
  return rotation % 2 === 0
    ? { width: screenWidth, height: screenHeight }
    : { width: screenHeight, height: screenWidth };
}
