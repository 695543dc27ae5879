import { randomUUID } from 'node:crypto';
import type { NumberedScreen } from '@phalanx/protocol';
import { beforeEach, expect, it } from 'vitest';
import { InProcessNetwork } from '../../../storage/bus/in-process-network.ts';
import { TestClock } from '../../../testing/test-clock.ts';
import { ScreenCache } from './screen-cache.ts';

const owner = { userId: 'ann', deviceId: 'phone' };
const screen: NumberedScreen = { head: 'app "com.shop", 1080×2400', lines: [] };
const expired = { code: 'screen_expired' };

let clock: TestClock;
let network: InProcessNetwork;
beforeEach(() => {
  clock = new TestClock();
  network = new InProcessNetwork();
});

function open() {
  const bus = network.join();
  return { bus, screens: new ScreenCache({ bus, nodeId: randomUUID(), clock }) };
}

it('a screen is known at each server for as long as the one that read it is there', async () => {
  const [one, other] = [open(), open()];
  const id = one.screens.keep(owner, screen);
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{6}$/);
  expect(await one.screens.get(id, owner)).toEqual(screen);
  expect(await other.screens.get(id, owner)).toEqual(screen);
  await one.bus.close();
  await expect(other.screens.get(id, owner)).rejects.toMatchObject(expired);
});

it('it is known to its reader alone, for its phone alone, and for ten minutes', async () => {
  const [one, other] = [open(), open()];
  const id = one.screens.keep(owner, screen);
  for (const stranger of [
    { ...owner, userId: 'bob' },
    { ...owner, deviceId: 'other' },
  ])
    for (const { screens } of [one, other])
      await expect(screens.get(id, stranger)).rejects.toMatchObject(expired);
  clock.advance(10 * 60_000 - 30_000);
  expect(await other.screens.get(id, owner)).toEqual(screen);
  clock.advance(30_001);
  for (const { screens } of [one, other]) await expect(screens.get(id, owner)).rejects.toMatchObject(expired);
});

it('a user has a hundred of them, and takes no place of others', async () => {
  const { screens } = open();
  const ofBob = screens.keep({ ...owner, userId: 'bob' }, screen);
  const ids = Array.from({ length: 101 }, () => screens.keep(owner, screen));
  await expect(screens.get(ids[0] ?? '', owner)).rejects.toMatchObject(expired);
  expect(await screens.get(ids[1] ?? '', owner)).toEqual(screen);
  expect(await screens.get(ofBob, { ...owner, userId: 'bob' })).toEqual(screen);
});
