import { createHash } from 'node:crypto';
import type { LiveFrame } from '@phalanx/protocol';

import type { ServiceClock } from '../../connection/service-clock.ts';
import type { Driver } from '../../driver/driver.ts';
import { pause } from '../../time/time-limit.ts';
import { type AnswerOptions, answerRequest, type PhoneRequest } from './answer-request.ts';

/** A screen on which nothing moves is told of so often. */
const stillMs = 1000;
/** Each picture that the phone does not make small by itself costs it, and this host, a good part of that. */
const afterRawMs = 400;

/** Answers one `live` of the server: a `LiveFrame` and its picture. */
export const answerLive = (
  request: PhoneRequest & { known: string | null },
  { clock, ...options }: AnswerOptions & { clock: ServiceClock },
): Promise<void> =>
  answerRequest({ ...request, type: 'live' }, options, async (phone, signal) => {
    const { jpeg, capturedAt, ...frame } = await nextPicture(phone.driver(), request.known, signal);
    const head: LiveFrame = { ...frame, captured_at: clock.toService(capturedAt) };
    const isKnown = frame.hash === request.known;
    return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), isKnown ? Buffer.alloc(0) : jpeg]);
  });

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
