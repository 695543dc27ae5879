import type { DeviceScreen, HostQuestionOf, ScreenTree, UiNode } from '@phalanx/protocol';

import type { Driver } from '../../driver/driver.ts';
import { DriverError, type DriverErrorCode } from '../../driver/driver-error.ts';
import type { EncodedPicture } from '../../driver/pictures/encode-picture.ts';
import { movingScreen } from '../../driver/pictures/picture-of-moment.ts';
import type { ServiceClock } from '../../connection/service-clock.ts';
import type { Phone } from '../phone.ts';
import type { AnswerContext } from './answer-context.ts';

const defaultWidth = 1080;
/** Maximum number of attempts when the screen changes between tree and picture. */
const maxLooks = 4;

/** Failures that concern only the picture. */
const lacking: ReadonlySet<DriverErrorCode> = new Set([
  ...(['secure_screen', 'screen_not_readable', 'app_not_allowed'] as const),
]);

export interface ScreenSize {
  readonly width: number;
  readonly height: number;
}

interface Shown {
  readonly tree: ScreenTree;
  readonly picture: EncodedPicture | null;
  /** Reason why there is no picture; null when there is one. */
  readonly lack: string | null;
}

/** Returns the JSON of a `DeviceScreen`. */
export async function readScreen(
  _phone: Phone,
  { width, picture: isPictureWanted }: HostQuestionOf<'screen'>,
  { clock, signal, driver: getDriver }: AnswerContext,
): Promise<Buffer> {
  const driver = getDriver();
  const { tree, picture, lack } =
    isPictureWanted === false
      ? { tree: await driver.call('screen.content', {}, signal), picture: null, lack: null }
      : await look(driver, width ?? defaultWidth, signal);
  const size = await sizeOf(driver, { picture, rotation: tree.rotation, signal });
  const screen: DeviceScreen = {
    ...screenOf({ tree, ...size }, clock),
    picture: picture && { mime_type: 'image/jpeg', base64: picture.data.toString('base64') },
    picture_reason: lack,
    picture_remark: picture?.remark ?? null,
  };
  return Buffer.from(JSON.stringify(screen));
}

/** Returns a screen without a picture. */
export const screenOf = (
  { tree, width, height }: ScreenSize & { tree: ScreenTree },
  clock: ServiceClock,
): DeviceScreen => ({
  captured_at: clock.toService(tree.capturedAt),
  rotation: tree.rotation,
  width,
  height,
  picture: null,
  tree: { packageName: tree.packageName, source: tree.source, root: { ...tree.root } },
});

/**
 * Returns tree and picture of one moment. The picture is missing for a secure window and for a screen that does not
 * rest.
 */
async function look(driver: Driver, width: number, signal: AbortSignal): Promise<Shown> {
  for (let looks = 1; ; looks += 1) {
    const tree = await driver.call('screen.content', {}, signal);
    const found = await findPicture(driver, { root: tree.root, width, signal });
    if (found instanceof DriverError) return { tree, picture: null, lack: found.message };
    if (found !== undefined) return { tree, picture: found, lack: null };
    if (looks === maxLooks) return { tree, picture: null, lack: movingScreen().message };
  }
}

async function findPicture(
  driver: Driver,
  { root, width, signal }: { root: UiNode; width: number; signal: AbortSignal },
): Promise<EncodedPicture | DriverError | undefined> {
  const letGo = driver.holdScreen();
  try {
    const form = { format: 'jpeg', maxWidth: width } as const;
    const taken = await driver.takePictureOf({ root, form, onTaken: letGo }, signal);
    return await taken?.finish();
  } catch (error) {
    if (error instanceof DriverError && lacking.has(error.code)) return error;
    throw error;
  } finally {
    letGo();
  }
}

/** Returns the size of the screen as it is rotated; the phone's description gives its upright size. */
async function sizeOf(
  driver: Driver,
  { picture, rotation, signal }: { picture: EncodedPicture | null; rotation: number; signal: AbortSignal },
): Promise<ScreenSize> {
  return picture === null
    ? screenSize(driver, rotation, signal)
    : { width: picture.originalWidth, height: picture.originalHeight };
}

export async function screenSize(driver: Driver, rotation: number, signal: AbortSignal): Promise<ScreenSize> {
  const { screenWidth, screenHeight } = await driver.call('device.info', {}, signal);
  return rotation % 2 === 0
    ? { width: screenWidth, height: screenHeight }
    : { width: screenHeight, height: screenWidth };
}
