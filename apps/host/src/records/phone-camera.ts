import type {
  AgentCallParams,
  Bounds,
  RecordedApp,
  ScreenshotQuality,
  ScreenTree,
  UiNode,
} from '@phalanx/protocol';
import type { Driver } from '../driver/driver.ts';
import { frameForm, type TakenPicture } from '../driver/pictures/taken-picture.ts';
import type { PhoneWatch } from '../phones/watch-phones.ts';
import { callPhone, type CalledPhone } from '../phones/call-phone.ts';
import { pause } from '../time/time-limit.ts';

type PictureQuality = Exclude<ScreenshotQuality, 'none'>;

interface PhotoOrder {
  /** Undefined where there is no tree. */
  readonly root: UiNode | undefined;
  readonly quality: PictureQuality;
  readonly signal: AbortSignal;
  /** Called when the phone may show something else. */
  readonly onTaken?: (() => void) | undefined;
}

/** Functions of a phone that records need. */
export interface PhoneCamera {
  /** Nobody changes the screen from now on until it is let go of. Returns how to. */
  holdScreen(): () => void;
  /** Undefined when the phone shows another screen than that of the tree. */
  takePictureOf(order: PhotoOrder): Promise<TakenPicture | undefined>;
  readTree(signal: AbortSignal): Promise<ScreenTree>;
  /** Parts of a read tree that must not be seen; undefined when nobody knows. */
  hiddenIn(root: UiNode): readonly Bounds[] | undefined;
  readApp(packageName: string, signal: AbortSignal): Promise<RecordedApp>;
}

/** The same as the presets of `ScreenshotRecord`. */
const presets: Readonly<Record<PictureQuality, AgentCallParams<'screen.screenshot'>>> = {
  low_quality: { format: 'jpeg', quality: frameForm.quality, maxWidth: frameForm.maxWidth },
  high_quality: { format: 'jpeg', quality: 90 },
};

export function createPhoneCamera(phones: PhoneWatch, phone: CalledPhone): PhoneCamera {
  const driver = (): Driver => {
    const found = phones.find(phone.serial);
    if (found === undefined) throw new Error(`The phone ${phone.serial} is not connected to this host.`);
    return found.driver().limitedTo(phone.appLimit);
  };
  return {
    holdScreen() {
      const found = phones.find(phone.serial);
      return found?.state.state === 'ready' ? found.driver().holdScreen() : () => {};
    },
    takePictureOf: async ({ quality, signal, ...order }) =>
      driver().takePictureOf({ ...order, form: presets[quality] }, signal),
    hiddenIn(root) {
      const found = phones.find(phone.serial);
      return found?.state.state === 'ready' ? found.driver().hiddenIn(root) : undefined;
    },
    readApp: async (packageName, signal) => driver().readApp(packageName, signal),
    readTree: (signal) => callPhone(phones, phone, { name: 'screen.content', params: {}, signal }),
  };
}

type Take = () => Promise<TakenPicture | undefined>;

interface Waiting {
  take: Take;
  answer: PromiseWithResolvers<TakenPicture | undefined>;
}

/**
 * The pictures of one run: one is under way at most and one waits. A newer one takes the place of the one that waits,
 * because it is more likely to show the screen of its tree.
 */
export class PictureQueue {
  #isBusy = false;
  #waiting: Waiting | undefined;
  #hasRoom = Promise.withResolvers<void>();

  /** Resolves with nothing when the picture failed or lost its place. */
  take(take: Take): Promise<TakenPicture | undefined> {
    this.#waiting?.answer.resolve(undefined);
    const answer = Promise.withResolvers<TakenPicture | undefined>();
    this.#waiting = { take, answer };
    void this.#work();
    return answer.promise;
  }

  /** Resolves when a picture would cost no other one its place, or after `limitMs`. */
  async whenRoom(limitMs: number, signal: AbortSignal): Promise<void> {
    if (this.#waiting === undefined) return;
    const waited = new AbortController();
    await Promise.race([this.#hasRoom.promise, pause(limitMs, AbortSignal.any([signal, waited.signal]))]);
    waited.abort();
  }

  async #work(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    for (let next = this.#next(); next !== undefined; next = this.#next())
      next.answer.resolve(await next.take().catch(() => undefined));
    this.#isBusy = false;
  }

  #next(): Waiting | undefined {
    const next = this.#waiting;
    this.#waiting = undefined;
    this.#hasRoom.resolve();
    this.#hasRoom = Promise.withResolvers();
    return next;
  }
}
