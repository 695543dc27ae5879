import { DriverError } from '../driver-error.ts';
import type { HiddenParts } from './encode-picture.ts';
import type { Shot } from '../fallback/screencap.ts';
import type { WindowsReading } from '../masks/all-windows.ts';
import type { ScreenReading } from '../masks/masked-screen.ts';

/** A focused field's cursor blinks twice a second: of so many pictures, two in a row are the same. */
const maxShots = 4;
const maxAttempts = 4;

export interface MomentParts {
  readonly read: () => Promise<ScreenReading>;
  /** Gives `before` itself where the phone shows the same as then. */
  readonly readAgain: (before: ScreenReading) => Promise<ScreenReading>;
  /** Of all windows that can be seen, the one in front among them. */
  readonly readAllHidden: (front: ScreenReading) => Promise<WindowsReading>;
  readonly take: () => Promise<Shot>;
}

export interface MomentPicture extends Shot {
  /** What it must not show. */
  readonly hidden: HiddenParts;
}

/**
 * A picture of the moment of a reading: the tree is the same after it as it was before. Where something must not be seen,
 * the tree is read once more right before, and two pictures in a row have to be the same, too: of a window that slides in, the tree tells where it will be, and a
 * screen that changes and changes back between two readings is seen by nothing else. Undefined when that can't be had.
 * Rejects with `screen_not_readable` where something must not be seen, and a window is that can't be read.
 */
export async function takeOfMoment(
  reading: ScreenReading,
  parts: Omit<MomentParts, 'read'>,
): Promise<MomentPicture | undefined> {
  const { isGuarded } = reading;
  if (!isGuarded && !reading.leavesRoom) return takeBetween(reading, parts);
  if ((await parts.readAgain(reading)) !== reading) return undefined;
  const windows = await parts.readAllHidden(reading);
  if (isGuarded && windows.hasUnread) throw unreadWindow();
  const picture = await takeBetween(reading, parts);
  const after = await parts.readAllHidden(reading);
  if (picture === undefined || after.digest !== windows.digest) return undefined;
  return { ...picture, hidden: (screen) => [...picture.hidden(screen), ...windows.hidden, ...after.hidden] };
}

async function takeBetween(
  reading: ScreenReading,
  { readAgain, take }: Omit<MomentParts, 'read'>,
): Promise<MomentPicture | undefined> {
  const shot = reading.isGuarded ? await takeStill(take) : await take();
  shot?.file.catch(() => {});
  if (shot === undefined || (await readAgain(reading)) !== reading) return undefined;
  return { file: shot.file, hidden: reading.hideAll() };
}

/** A picture of any moment from now on. Rejects with `screen_moving` when the screen does not rest for long enough. */
export async function takeOfAnyMoment({ read, ...parts }: MomentParts): Promise<MomentPicture> {
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const picture = await takeOfMoment(await read(), parts);
    if (picture !== undefined) return picture;
  }
  throw movingScreen();
}

export const movingScreen = (): DriverError =>
  new DriverError(
    'screen_moving',
    'There is no picture: the screen changed each time before and after one was taken, so that nobody can tell what it shows and what of it is to be hidden. Try again when the screen is still.',
  );

const unreadWindow = (): DriverError =>
  new DriverError(
    'screen_not_readable',
    'There is no picture: a window behind the one in front can be seen, and its tree cannot be read, so that nobody can tell what of it is to be hidden. Close the dialog in front first.',
  );

async function takeStill(take: () => Promise<Shot>): Promise<Shot | undefined> {
  let last = await (await take()).file;
  for (let shots = 1; shots < maxShots; shots += 1) {
    const next = await (await take()).file;
    if (next.equals(last)) return { file: Promise.resolve(next) };
    last = next;
  }
  return undefined;
}
