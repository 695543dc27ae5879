import { isDeepStrictEqual } from 'node:util';

import type { AgentCallParams, DeviceInfo, UiNode } from '@phalanx/protocol';

import type { PhoneQueue } from '../call-queue.ts';
import { screencap } from '../fallback/screencap.ts';
import type { MaskedScreen, ScreenReading } from '../masks/masked-screen.ts';
import type { PhoneShell } from '../shell/phone-shell.ts';
import { type MomentParts, type MomentPicture, takeOfAnyMoment, takeOfMoment } from './picture-of-moment.ts';
import { frameForm, takePictureAside } from './take-picture-aside.ts';
import { rawPicture, type TakenPicture } from './taken-picture.ts';
import type { UiBackend } from '../ui-backend.ts';

type PictureForm = AgentCallParams<'screen.screenshot'>;

export interface PictureOrder {
  /** Of a tree that was read from the phone, or kept by an automation; undefined where there is none. */
  readonly root: UiNode | undefined;
  readonly form: PictureForm;
  readonly signal: AbortSignal;
  /** Called when the phone may show something else; the picture's file can be still on its way. */
  readonly onTaken?: (() => void) | undefined;
}

/** Pictures of the screen that are no calls of user code. */
export interface ScreenPictures {
  /** A picture of the screen of that tree; undefined when the phone shows another one. */
  takeOf(order: PictureOrder): Promise<TakenPicture | undefined>;
  /** A small picture of about now. */
  takeLive(signal: AbortSignal): Promise<TakenPicture>;
  /** The same, hidden as the picture of a tree is; undefined when the phone is busy or its screen moves. */
  takePassing(isBusy: () => boolean, signal: AbortSignal): Promise<TakenPicture | undefined>;
}

interface Options {
  readonly queue: PhoneQueue;
  readonly screen: MaskedScreen;
  readonly shell: PhoneShell;
  readonly backend: UiBackend;
  readonly deviceInfo: () => DeviceInfo;
}

const liveForm = { format: 'jpeg', maxWidth: frameForm.maxWidth, quality: frameForm.quality } as const;

export function createScreenPictures({ queue, screen, shell, backend, deviceInfo }: Options): ScreenPictures {
  const partsOf = (signal: AbortSignal): MomentParts => ({
    read: () => queue.runAhead(() => screen.read(signal), signal),
    readAgain: (before) => queue.runAhead(() => screen.readAgain(before, signal), signal),
    readAllHidden: (front) => queue.runAhead(() => screen.readAllHidden(front, signal), signal),
    take: () => screencap(shell, signal),
  });
  /** Undefined when the phone shows another tree than the one that an automation has kept. */
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
    const { screenWidth: width, screenHeight: height } = deviceInfo();
    const aside = { shell, frames: backend.frames, display: { width, height } };
    return takePictureAside(aside, liveForm, signal);
  };
  return {
    async takeOf({ root, form, signal, onTaken }) {
      const parts = partsOf(signal);
      const reading = await readingOf(root, parts);
      const picture = reading && (await takeOfMoment(reading, parts));
      onTaken?.();
      return picture && (await inForm(picture, form));
    },
    async takeLive(signal) {
      const picture = screen.hasNodeMasks ? undefined : await takeAside(signal);
      // Masks may have come while it was taken.
      if (picture === undefined || screen.hasNodeMasks)
        return await inForm(await takeOfAnyMoment(partsOf(signal)), liveForm);
      picture.cover(screen.areas);
      return picture;
    },
    async takePassing(isBusy, signal) {
      if (isBusy()) return undefined;
      const parts = partsOf(signal);
      const picture = await takeOfMoment(await parts.read(), parts);
      return picture && (await inForm(picture, liveForm));
    },
  };
}

async function inForm({ file, hidden }: MomentPicture, form: PictureForm): Promise<TakenPicture> {
  const picture = rawPicture(await file, form);
  picture.cover(hidden);
  return picture;
}
