import { randomUUID } from 'node:crypto';
import sharp from 'sharp';
import { expect, it } from 'vitest';
import type { Arrival } from '../../testing/read-frame.ts';
import { serial, useTestHost } from '../../testing/test-host.ts';

const host = useTestHost();

interface Answer {
  readonly hash: string;
  readonly jpeg: Buffer;
}

/** Requests the next wall picture from the host. */
async function ask(known: string | null): Promise<Answer> {
  const request_id = randomUUID();
  host.service.send({ type: 'wall', request_id, serial, known });
  const isAnswer = (arrival: Arrival): boolean => 'requestId' in arrival && arrival.requestId === request_id;
  await host.service.until(() => host.service.arrivals.some(isAnswer));
  const found = host.service.arrivals.find(isAnswer);
  if (found?.kind !== 'wall') throw new Error(JSON.stringify(found));
  const end = found.bytes.indexOf('\n');
  const { hash } = JSON.parse(found.bytes.toString('utf8', 0, end));
  return { hash, jpeg: found.bytes.subarray(end + 1) };
}

/** Returns the hash of the last picture once the screen is still. */
async function untilStill(): Promise<string> {
  for (let last = (await ask(null)).hash; ;) {
    const { hash, jpeg } = await ask(last);
    if (jpeg.length === 0) return hash;
    last = hash;
  }
}

it('a wall has small pictures, one for all who ask at once, and no picture again of what has not changed', async () => {
  const [one, other] = await Promise.all([ask(null), ask(null)]);
  expect(await sharp(one.jpeg).metadata()).toMatchObject({ format: 'jpeg', width: 240 });
  expect(other.hash).toBe(one.hash);
  const still = await untilStill();
  const changed = ask(still);
  host.service.send({
    type: 'input',
    request_id: randomUUID(),
    serial,
    input: { type: 'launch_app', package_name: 'com.android.settings' },
  });
  const { hash, jpeg } = await changed;
  expect(hash).not.toBe(still);
  expect(jpeg.length).toBeGreaterThan(0);
});

it('a wall is told why there is no picture of a window that forbids pictures', async () => {
  host.phone.faults.secureWindow = true;
  await expect(ask(null)).rejects.toThrow('FLAG_SECURE');
});
