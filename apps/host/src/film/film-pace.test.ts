import { setTimeout as sleep } from 'node:timers/promises';
import type { FilmPartAbout } from '@phalanx/protocol';
import { pino } from 'pino';
import sharp from 'sharp';
import { expect, it } from 'vitest';

import { createServiceClock } from '../connection/service-clock.ts';
import { rawPicture, type TakenPicture } from '../driver/pictures/taken-picture.ts';
import { hostTimings } from '../time/host-timings.ts';
import { RunFilm } from './run-film.ts';

/** Returns a phone whose screen has one colour, and the parts of its film that were kept. */
function filmOf({ maxBytes = 1_000_000, hasRoom = (): boolean => true } = {}) {
  const screen = { red: 50, shots: 0 };
  const kept: { about: FilmPartAbout; jpeg: Buffer }[] = [];
  const take = async (): Promise<TakenPicture> => {
    screen.shots += 1;
    const background = { r: screen.red, g: 200, b: 200 };
    const png = await sharp({ create: { width: 40, height: 80, channels: 3, background } })
      .png()
      .toBuffer();
    return rawPicture(png, { format: 'jpeg' });
  };
  const film = new RunFilm({
    timings: { ...hostTimings, filmPictureMs: 40, filmAfterCallMs: 20, filmPollMs: 5 },
    runId: '',
    take,
    maxBytes,
    clock: createServiceClock(),
    log: pino({ level: 'silent' }),
    limits: { pictureMs: 60_000, lastLookMs: 60_000 },
    video: async () => ({ reason: 'none' }),
    keep: async (about, jpeg) => {
      const fits = hasRoom();
      if (fits) kept.push({ about, jpeg });
      return fits;
    },
  });
  const untilShots = async (count: number): Promise<void> => {
    while (screen.shots < count) await sleep(20);
  };
  return { film, screen, kept, untilShots };
}

it('a screen that does not change is kept once, and is not numbered again', async () => {
  const { film, screen, kept, untilShots } = filmOf();
  film.begin();
  film.called({ mayChange: true });
  await untilShots(3);
  screen.red = 250;
  await untilShots(5);
  await film.end();
  expect(kept.map(({ about }) => about.number)).toEqual([1, 2]);
  expect(kept[0]?.about).toMatchObject({ width: 40, height: 80, taken_at: expect.any(Number) });
});

it('a picture that could not be kept is taken again', async () => {
  let hasRoom = false;
  const { film, kept, untilShots } = filmOf({ hasRoom: () => hasRoom });
  film.begin();
  await untilShots(2);
  expect(kept).toEqual([]);
  hasRoom = true;
  await film.end();
  expect(kept.map(({ about }) => about.number)).toEqual([1]);
});

it('a film takes no more bytes than it may, and comes to its end', async () => {
  const { film, screen, kept, untilShots } = filmOf({ maxBytes: 1500 });
  film.begin();
  await untilShots(1);
  for (let shots = 2; shots <= 3; shots += 1) {
    screen.red += 60;
    film.called({ mayChange: true });
    await untilShots(shots);
  }
  await film.end();
  expect(kept.length).toBeGreaterThan(0);
  expect(kept.reduce((sum, { jpeg }) => sum + jpeg.byteLength, 0)).toBeLessThanOrEqual(1500);
  const before = screen.shots;
  await sleep(1500);
  expect(screen.shots).toBe(before);
});

it('a phone that is away costs the film its pictures, and the run nothing', async () => {
  const none = new RunFilm({
    timings: hostTimings,
    runId: '',
    maxBytes: 1000,
    clock: createServiceClock(),
    log: pino({ level: 'silent' }),
    limits: { pictureMs: 60_000, lastLookMs: 60_000 },
    video: () => Promise.reject(new Error('gone')),
    take: () => Promise.reject(new Error('gone')),
    keep: async () => true,
  });
  none.begin();
  await expect(none.end()).resolves.toBeUndefined();
});
