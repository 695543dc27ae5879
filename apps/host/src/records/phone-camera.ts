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
  /** Tree of the screen; undefined when there is none. */
  readonly root: UiNode | undefined;
  readonly quality: PictureQuality;
  readonly signal: AbortSignal;
  /** Called when the picture is taken, so that the screen may change. */
  readonly onTaken?: (() => void) | undefined;
}

/** Functions of a phone that records need. */
export interface PhoneCamera {
  /** Prevents changes of the screen until it is released. Returns a function that releases it. */
  holdScreen(): () => void;
  /** Takes a picture of the tree's screen. Resolves with undefined when the phone shows another screen. */
  takePictureOf(order: PhotoOrder): Promise<TakenPicture | undefined>;
  readTree(signal: AbortSignal): Promise<ScreenTree>;
  /** Returns the hidden parts of a tree that was read; undefined when unknown. */
  hiddenIn(root: UiNode): readonly Bounds[] | undefined;
  /** Returns the digest of the screen that the tree shows; undefined when its reading is no longer cached. */
  digestOf(root: UiNode): string | undefined;
  readApp(packageName: string, signal: AbortSignal): Promise<RecordedApp>;
}

/** Forms of screenshots, equal to the presets of `ScreenshotRecord`. */
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
  const readyDriver = (): Driver | undefined => {
    const found = phones.find(phone.serial);
    return found?.state.state === 'ready' ? found.driver() : undefined;
  };
  return {
    holdScreen: () => readyDriver()?.holdScreen() ?? (() => {}),
    takePictureOf: async ({ quality, signal, ...order }) =>
      driver().takePictureOf({ ...order, form: presets[quality] }, signal),
    hiddenIn: (root) => readyDriver()?.hiddenIn(root),
    digestOf: (root) => readyDriver()?.digestOf(root),
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
 * Queue for the pictures of one run: at most one is being taken, and one waits. A newer picture replaces the waiting
 * one, because it is more likely to match the screen of its tree.
 */
export class PictureQueue {
  #isBusy = false;
  #waiting: Waiting | undefined;
  #hasRoom = Promise.withResolvers<void>();

  /** Resolves with undefined when the picture failed or was replaced. */
  take(take: Take): Promise<TakenPicture | undefined> {
    this.#waiting?.answer.resolve(undefined);
    const answer = Promise.withResolvers<TakenPicture | undefined>();
    this.#waiting = { take, answer };
    void this.#work();
    return answer.promise;
  }

  /** Resolves when a new picture would not replace another one, or after `limitMs`. */
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
