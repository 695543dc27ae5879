import type { HostQuestionOf } from '@phalanx/protocol';

import type { Driver } from '../../driver/driver.ts';
import { encodePicture } from '../../driver/pictures/encode-picture.ts';
import type { TakenPicture } from '../../driver/pictures/taken-picture.ts';
import { pause } from '../../time/time-limit.ts';
import type { Phone } from '../phone.ts';
import type { AnswerContext } from './answer-context.ts';
import { frameAnswer, hashOf, type LivePicture } from './live-camera.ts';

const form = { format: 'jpeg', maxWidth: 240, quality: 50 } as const;
/** Twice a second is as much as a wall shows. */
const betweenMs = 450;
/** A picture that the phone does not make small by itself costs it, and this host, a good part of that. */
const betweenRawMs = 1800;
/** A screen on which nothing moves is told of so often. */
const stillMs = 2000;
const takingMs = 10_000;

interface WallPicture extends LivePicture {
  /** Of the phone's file. */
  readonly digest: string | undefined;
}

/** A `LiveFrame` and its picture. */
export async function nextWallFrame(
  phone: Phone,
  { known }: HostQuestionOf<'wall'>,
  { clock, signal }: AnswerContext,
): Promise<Buffer> {
  return frameAnswer(await cameraOf(phone.driver()).next(known, signal), known, clock);
}

async function smallOf(taken: TakenPicture): Promise<Omit<WallPicture, 'capturedAt' | 'digest'>> {
  const { data, originalWidth: width, originalHeight: height } = await taken.finish();
  const { data: jpeg } = await encodePicture(data, form);
  return { width, height, jpeg, hash: hashOf(jpeg) };
}

const cameras = new WeakMap<Driver, WallCamera>();

function cameraOf(driver: Driver): WallCamera {
  const camera = cameras.get(driver) ?? new WallCamera(driver);
  cameras.set(driver, camera);
  return camera;
}

/** The small pictures of one phone: each is taken once, however many servers ask for it. */
class WallCamera {
  readonly #driver: Driver;
  #last: WallPicture | undefined;
  #nextAt = 0;
  #taking: Promise<WallPicture> | undefined;

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  /** Another one than the known one, or, when there is none for a while, the last. */
  async next(known: string | null, signal: AbortSignal): Promise<WallPicture> {
    const beganAt = performance.now();
    for (;;) {
      signal.throwIfAborted();
      const picture = await this.#current();
      const waitMs = this.#nextAt - performance.now();
      if (picture.hash !== known || performance.now() + waitMs - beganAt > stillMs) return picture;
      await pause(Math.max(0, waitMs), signal);
    }
  }

  async #current(): Promise<WallPicture> {
    if (this.#last !== undefined && performance.now() < this.#nextAt) return this.#last;
    this.#taking ??= this.#take().finally(() => (this.#taking = undefined));
    return this.#taking;
  }

  async #take(): Promise<WallPicture> {
    const before = this.#last;
    this.#last = undefined;
    const taken = await this.#driver.takeLivePicture(AbortSignal.timeout(takingMs));
    const capturedAt = Date.now();
    this.#nextAt = performance.now() + (taken.isRaw ? betweenRawMs : betweenMs);
    const { digest } = taken;
    // Most screens are the same most of the time: those are not decoded.
    this.#last =
      before !== undefined && digest !== undefined && digest === before.digest
        ? { ...before, capturedAt }
        : { ...(await smallOf(taken)), digest, capturedAt };
    return this.#last;
  }
}
