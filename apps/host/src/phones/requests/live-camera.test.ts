import { randomUUID } from 'node:crypto';
import { LiveFrame } from '@phalanx/protocol';
import sharp from 'sharp';
import { Compile } from 'typebox/compile';
import { describe, expect, it } from 'vitest';
import type { Arrival } from '../../testing/read-frame.ts';
import { serial, useTestHost } from '../../testing/test-host.ts';

const host = useTestHost();
const validator = Compile(LiveFrame);

/** Requests the next picture from the host. */
async function ask(known: string | null): Promise<{ frame: LiveFrame; jpeg: Buffer }> {
  const request_id = randomUUID();
  host.service.send({ type: 'live', request_id, serial, known });
  const isAnswer = (arrival: Arrival): boolean => 'requestId' in arrival && arrival.requestId === request_id;
  await host.service.until(() => host.service.arrivals.some(isAnswer));
  const found = host.service.arrivals.find(isAnswer);
  if (found?.kind !== 'live') throw new Error(JSON.stringify(found));
  const end = found.bytes.indexOf('\n');
  const frame: unknown = JSON.parse(found.bytes.toString('utf8', 0, end));
  if (!validator.Check(frame)) throw new Error(found.bytes.toString('utf8', 0, end));
  return { frame, jpeg: found.bytes.subarray(end + 1) };
}

describe('a host that is asked for a live view', () => {
  it('sends a small picture, and no picture again of a screen that has not changed', async () => {
    const { frame, jpeg } = await ask(null);
    expect(frame).toMatchObject({ width: 1080, height: 2400 });
    expect(await sharp(jpeg).metadata()).toMatchObject({ format: 'jpeg', width: 540 });
    // The helper's pictures differ from the first one, which is made from a screenshot.
    const { hash } = await untilFlowing(frame.hash);
    expect(await ask(hash)).toMatchObject({ frame: { hash }, jpeg: Buffer.alloc(0) });
  });

  it('sends the next picture as soon as the screen has changed', async () => {
    const { hash } = await untilFlowing((await ask(null)).frame.hash);
    const changed = ask(hash);
    host.service.send({
      type: 'input',
      request_id: randomUUID(),
      serial,
      input: { type: 'launch_app', package_name: 'com.android.settings' },
    });
    const { frame, jpeg } = await changed;
    expect(frame.hash).not.toBe(hash);
    expect(jpeg.length).toBeGreaterThan(0);
  });

  it('says why there is none of a window that forbids pictures', async () => {
    host.phone.faults.secureWindow = true;
    await expect(ask(null)).rejects.toThrow('FLAG_SECURE');
    host.phone.faults.secureWindow = false;
  });
});

/** Returns the last picture once the screen is still. */
async function untilFlowing(known: string): Promise<LiveFrame> {
  for (let last = known; ;) {
    const { frame, jpeg } = await ask(last);
    if (jpeg.length === 0) return frame;
    last = frame.hash;
  }
}
