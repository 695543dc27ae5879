import type { FilmPicture, FilmVideo, RunStep } from '@phalanx/protocol';
import { expect, it } from 'vitest';

import { momentsOf, placeAt, placeOfStep, standsMs, stepOf, timeText } from './film.tsx';

const size = { width: 540, height: 1200, size_bytes: 1 };
const picture = (number: number, taken_at: number): FilmPicture => ({ number, taken_at, ...size });
const video = (number: number, began_at: number, ended_at: number): FilmVideo => ({
  number,
  began_at,
  ended_at,
  ...size,
});
const step = (no: number, timestamp: number, duration_ms: number): RunStep => ({
  id: `${no}`,
  run_id: '',
  step: no,
  name: 'tap',
  outcome: 'ok',
  path: null,
  line_number: 0,
  timestamp,
  duration_ms,
});

const pictures = [picture(1, 1000), picture(2, 1500), picture(3, 9000), picture(4, 9010)];
const moments = momentsOf(pictures, [], []);
const steps = [step(1, 1100, 300), step(2, 1400, 7000), step(3, 9005, 1)];

it('a time shows the newest picture that was taken by then, and one before all the first', () => {
  expect([0, 999, 1000, 1499, 1500, 8999, 10_000].map((time) => placeAt(moments, time))).toEqual([
    0, 0, 0, 0, 1, 1, 3,
  ]);
  expect(placeAt([], 5)).toBe(0);
});

it('a step shows what it left, and a picture the step that ran or ended last', () => {
  expect(steps.map((one) => placeOfStep(moments, one))).toEqual([0, 1, 2]);
  expect(moments.map((one) => stepOf(steps, one)?.step)).toEqual([1, 2, 2, 3]);
  expect(stepOf([], { time: 5 })).toBeUndefined();
});

it('a picture stands as long as it did, but not for long, nor too short to be seen', () => {
  expect(moments.map((_, place) => standsMs(moments, place))).toEqual([500, 2000, 100, 100]);
  expect(timeText(moments, 2)).toBe('8.0 s');
});

it('a video has a place each half second and where a step ends, in place of pictures of its time', () => {
  const film = momentsOf(
    [picture(1, 900), picture(3, 1600), picture(4, 2200)],
    [video(2, 1000, 2200)],
    steps,
  );
  expect(film.map(({ time, part }) => [part.number, time])).toEqual([
    [1, 900],
    ...[1000, 1400, 1500, 2000].map((time) => [2, time]),
    [4, 2200],
  ]);
});
