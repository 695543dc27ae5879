import { isDeepStrictEqual } from 'node:util';
import type { AgentCallParams, UiNode } from '@phalanx/protocol';
import type { Display } from '../display.ts';
import { DriverError } from '../driver-error.ts';
import type { HiddenParts } from './encode-picture.ts';
import { type Shot, screencap } from '../fallback/screencap.ts';
import type { WindowsReading } from '../masks/all-windows.ts';
import type { ScreenReading, MaskedScreen } from '../masks/masked-screen.ts';
import type { PhoneQueue } from '../call-queue.ts';
import type { PhoneShell } from '../shell/phone-shell.ts';
import { explained, explainerOf, type ExplainPicture } from './missing-picture.ts';
import { frameForm, justTaken, takePictureAside, type TakenPicture } from './taken-picture.ts';
import type { UiBackend } from '../ui-backend.ts';

/** Maximum number of pictures. The cursor of a focused field blinks twice a second, so two in a row are the same. */
const maxShots = 4;
const maxAttempts = 4;

export interface MomentParts {
  readonly read: () => Promise<ScreenReading>;
  /** Reads the screen. Returns `before` itself when the phone still shows the same. */
  readonly readAgain: (before: ScreenReading) => Promise<ScreenReading>;
  /** Reads all windows that can be seen, including the one in front. */
  readonly readAllHidden: (front: ScreenReading) => Promise<WindowsReading>;
  readonly take: () => Promise<Shot>;
}

export interface MomentPicture extends Shot {
  /** Parts that the picture must not show. */
  readonly hidden: HiddenParts;
}

/**
 * Takes a picture of the moment of a reading: the tree is the same before and after. When something must not be seen,
 * the tree is read once more right before, and two pictures in a row have to be the same as well. The tree of a window
 * that slides in has the window's final place, and nothing else detects a screen that changes and changes back between
 * two readings. Undefined when that fails. Rejects with `screen_not_readable` when something must not be seen and a
 * window can't be read.
 */
async function takeOfMoment(
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

/**
 * Takes a picture of any moment from now on. Rejects with `screen_moving` when the screen does not rest for long
 * enough.
 */
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

type PictureForm = AgentCallParams<'screen.screenshot'>;

export interface PictureOrder {
  /** Root of a tree that was read from the phone, or kept by an automation; undefined without a tree. */
  readonly root: UiNode | undefined;
  readonly form: PictureForm;
  readonly signal: AbortSignal;
  /** Called when the phone may show something else. The file of the picture may still be in transfer. */
  readonly onTaken?: (() => void) | undefined;
}

/** Pictures of the screen that are not calls of user code. */
interface ScreenPictures {
  /** Takes a picture of the screen of a tree; undefined when the phone shows another screen. */
  takeOf(order: PictureOrder): Promise<TakenPicture | undefined>;
  /** Takes a small picture of about now. */
  takeLive(signal: AbortSignal): Promise<TakenPicture>;
  /**
   * Takes a small picture of about now, hidden like the picture of a tree; undefined when the phone is busy or its
   * screen moves.
   */
  takePassing(isBusy: () => boolean, signal: AbortSignal): Promise<TakenPicture | undefined>;
}

interface Options {
  readonly queue: PhoneQueue;
  readonly screen: MaskedScreen;
  readonly shell: PhoneShell;
  readonly backend: UiBackend;
  readonly display: Display;
}

const liveForm = { format: 'jpeg', maxWidth: frameForm.maxWidth, quality: frameForm.quality } as const;

export function createScreenPictures({ queue, screen, shell, backend, display }: Options): ScreenPictures {
  const partsOf = (signal: AbortSignal): MomentParts => ({
    read: () => queue.runAhead(() => screen.read(signal), signal),
    readAgain: (before) => queue.runAhead(() => screen.readAgain(before, signal), signal),
    readAllHidden: (front) => queue.runAhead(() => screen.readAllHidden(front, signal), signal),
    take: async () => {
      const explain = explainerOf(shell, undefined);
      const { file } = await explained(screencap(shell, signal), explain);
      return { file: explained(file, explain) };
    },
  });
  /** Returns undefined when the phone shows another tree than the one that an automation has kept. */
  const readingOf = async (
    root: UiNode | undefined,
    parts: MomentParts,
  ): Promise<ScreenReading | undefined> => {
    const known = root && screen.readingOf(root);
    if (known !== undefined) return known;
    const now = await parts.read();
    return root === undefined || isDeepStrictEqual(root, now.tree.root) ? now : undefined;
  };
  const takeAside = (signal: AbortSignal): Promise<TakenPicture> => {
    const { screenWidth: width, screenHeight: height } = display.size;
    const aside = { shell, frames: backend.frames, display: { width, height } };
    return takePictureAside(aside, liveForm, signal);
  };
  return {
    async takeOf({ root, form, signal, onTaken }) {
      const parts = partsOf(signal);
      const reading = await readingOf(root, parts);
      const picture = reading && (await takeOfMoment(reading, parts));
      onTaken?.();
      return picture && (await inForm(picture, form, explainerOf(shell, reading.tree.packageName)));
    },
    async takeLive(signal) {
      const picture = screen.hasNodeMasks ? undefined : await takeAside(signal);
      // Masks may have been added while it was taken.
      if (picture === undefined || screen.hasNodeMasks)
        return await inForm(await takeOfAnyMoment(partsOf(signal)), liveForm, explainerOf(shell, undefined));
      picture.cover(screen.areas);
      return picture;
    },
    async takePassing(isBusy, signal) {
      if (isBusy()) return undefined;
      const parts = partsOf(signal);
      const reading = await parts.read();
      const picture = await takeOfMoment(reading, parts);
      return picture && (await inForm(picture, liveForm, explainerOf(shell, reading.tree.packageName)));
    },
  };
}

async function inForm(
  { file, hidden }: MomentPicture,
  form: PictureForm,
  explain: ExplainPicture,
): Promise<TakenPicture> {
  const picture = await justTaken(await file, form, explain);
  picture.cover(hidden);
  return picture;
}
