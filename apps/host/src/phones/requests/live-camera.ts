import { createHash } from 'node:crypto';
import type { HostQuestionOf, LiveFrame } from '@phalanx/protocol';

import type { Driver } from '../../driver/driver.ts';
import { pause } from '../../time/time-limit.ts';
import type { Phone } from '../phone.ts';
import type { AnswerContext } from './answer-context.ts';

/** A screen on which nothing moves is told of so often. */
const stillMs = 1000;
/** Each picture that the phone does not make small by itself costs it, and this host, a good part of that. */
const afterRawMs = 400;

/** A `LiveFrame` and its picture. */
export async function nextLiveFrame(
  phone: Phone,
  { known, app_limit }: HostQuestionOf<'live'>,
  { clock, signal }: AnswerContext,
): Promise<Buffer> {
  const { jpeg, capturedAt, ...frame } = await nextPicture(
    phone.driver().limitedTo(app_limit),
    known,
    signal,
  );
  const head: LiveFrame = { ...frame, captured_at: clock.toService(capturedAt) };
  return Buffer.concat([
    Buffer.from(`${JSON.stringify(head)}\n`),
    frame.hash === known ? Buffer.alloc(0) : jpeg,
  ]);
}

interface LivePicture extends Omit<LiveFrame, 'captured_at'> {
  readonly capturedAt: number;
  readonly jpeg: Buffer;
}

/** Another one than the known one, or, when there is none for a second, the last. */
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
  const hash = createHash('sha1').update(data).digest('base64url');
  return { picture: { width, height, hash, capturedAt, jpeg: data }, isRaw };
}
