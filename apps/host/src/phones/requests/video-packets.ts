import type { HostQuestionOf, HostVideo } from '@phalanx/protocol';

import type { Phone } from '../phone.ts';
import type { AnswerContext } from './answer-context.ts';

/** A `HostVideo` and its packets. */
export async function nextVideoPackets(
  phone: Phone,
  { after }: HostQuestionOf<'video'>,
  { clock, signal }: AnswerContext,
): Promise<Buffer> {
  // Says why the phone can't be watched.
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
