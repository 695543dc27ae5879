import type { HostQuestionOf, LiveFrame, HostVideo } from '@phalanx/protocol';

import type { Driver } from '../../driver/driver.ts';
import { pause } from '../../time/time-limit.ts';
import type { Phone } from '../phone.ts';
import type { AnswerContext } from './answer-context.ts';
import { encodePicture } from '../../driver/pictures/encode-picture.ts';
import { pictureDigest } from '../../driver/pictures/picture-digest.ts';
import type { TakenPicture } from '../../driver/pictures/taken-picture.ts';

/** Maximum wait for a changed picture, in milliseconds. Then the last one is sent again. */
const stillMs = 1000;
/**
 * Pause after a picture that the phone did not scale down itself, in milliseconds: it loads the phone and this host.
 */
const afterRawMs = 400;

/** Returns a `LiveFrame` and its picture. */
export async function nextLiveFrame(
  _phone: Phone,
  { known }: HostQuestionOf<'live'>,
  { clock, driver, signal }: AnswerContext,
): Promise<Buffer> {
  const picture = await nextPicture(driver(), known, signal);
  return frameAnswer(picture, known, clock);
}

export interface LivePicture extends Omit<LiveFrame, 'captured_at'> {
  readonly capturedAt: number;
  readonly jpeg: Buffer;
}

/** Encodes a `LiveFrame` and its picture; omits a picture that the caller already has. */
function frameAnswer(
  { width, height, hash, capturedAt, jpeg }: LivePicture,
  known: string | null,
  clock: AnswerContext['clock'],
): Buffer {
  const head: LiveFrame = { captured_at: clock.toService(capturedAt), width, height, hash };
  const picture = hash === known ? Buffer.alloc(0) : jpeg;
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), picture]);
}

/** Returns a picture that differs from the known one, or the last one when nothing changes for a second. */
async function nextPicture(driver: Driver, known: string | null, signal: AbortSignal): Promise<LivePicture> {
  const beganAt = performance.now();
  for (;;) {
    const { picture, isRaw } = await takePicture(driver, signal);
    if (picture.hash !== known || performance.now() - beganAt > stillMs) return picture;
    if (isRaw) await pause(afterRawMs, signal);
  }
}

async function takePicture(
  driver: Driver,
  signal: AbortSignal,
): Promise<{ picture: LivePicture; isRaw: boolean }> {
  const taken = await driver.takeLivePicture(signal);
  const { isRaw } = taken;
  const capturedAt = Date.now();
  const { data, originalWidth: width, originalHeight: height } = await taken.finish();
  return { picture: { width, height, hash: pictureDigest(data), capturedAt, jpeg: data }, isRaw };
}

/** Returns a `HostVideo` and its packets. */
export async function nextVideoPackets(
  phone: Phone,
  { after }: HostQuestionOf<'video'>,
  { clock, signal }: AnswerContext,
): Promise<Buffer> {
  // Throws the reason why the phone can't be watched.
  phone.driver();
  const { video, description } = phone;
  if (video === undefined || description === undefined) throw new Error('The phone is connecting');
  const found = await video.next(after, signal);
  if ('reason' in found) return answerOf({ reason: found.reason }, []);
  const { first, packets } = found;
  const [last] = packets.slice(-1);
  const { screenWidth, screenHeight } = description;
  const [short, long] = [Math.min(screenWidth, screenHeight), Math.max(screenWidth, screenHeight)];
  const head: HostVideo = {
    first,
    captured_at: clock.toService(Date.now()),
    ...(last !== undefined && last.width > last.height
      ? { width: long, height: short }
      : { width: short, height: long }),
    codec: last?.codec ?? '',
    packets: packets.map(({ isKey, data }) => ({ is_key: isKey, size_bytes: data.length })),
  };
  return answerOf(
    head,
    packets.map(({ data }) => data),
  );
}

const answerOf = (head: HostVideo, data: readonly Buffer[]): Buffer =>
  Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...data]);

const form = { format: 'jpeg', maxWidth: 240, quality: 50 } as const;
/** Pause between two pictures in milliseconds: a wall shows at most two per second. */
const betweenMs = 450;
/**
 * Pause after a picture that the phone did not scale down itself, in milliseconds: it loads the phone and this host.
 */
const betweenRawMs = 1800;
/** Maximum wait for a changed picture, in milliseconds. Then the last one is sent again. */
const pollMs = 2000;
const takingMs = 10_000;

interface WallPicture extends LivePicture {
  /** Digest of the file from the phone. */
  readonly digest: string | undefined;
}

/** Returns a `LiveFrame` and its picture. */
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
  return { width, height, jpeg, hash: pictureDigest(jpeg) };
}

const cameras = new WeakMap<Driver, WallCamera>();

function cameraOf(driver: Driver): WallCamera {
  const camera = cameras.get(driver) ?? new WallCamera(driver);
  cameras.set(driver, camera);
  return camera;
}

/** Takes the small pictures of one phone. Each is taken once, however many servers request it. */
class WallCamera {
  readonly #driver: Driver;
  #last: WallPicture | undefined;
  #nextAt = 0;
  #taking: Promise<WallPicture> | undefined;

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  /** Returns a picture that differs from the known one, or the last one when nothing changes for a while. */
  async next(known: string | null, signal: AbortSignal): Promise<WallPicture> {
    const beganAt = performance.now();
    for (;;) {
      signal.throwIfAborted();
      const picture = await this.#current();
      const waitMs = this.#nextAt - performance.now();
      if (picture.hash !== known || performance.now() + waitMs - beganAt > pollMs) return picture;
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
    // Most screens rarely change, so an unchanged file is not decoded again.
    this.#last =
      before !== undefined && digest !== undefined && digest === before.digest
        ? { ...before, capturedAt }
        : { ...(await smallOf(taken)), digest, capturedAt };
    return this.#last;
  }
}
