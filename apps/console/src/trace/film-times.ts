import type { FilmPicture, RunStep } from '@phalanx/protocol';

/** A screen that rests for long is not looked at for as long. */
const mostMs = 2000;
const leastMs = 100;

/** Place in the film of what the phone showed at that time: the newest picture that was taken by then. */
export function placeAt(pictures: readonly FilmPicture[], time: number): number {
  return Math.max(
    0,
    pictures.findLastIndex((picture) => picture.taken_at <= time),
  );
}

/** The step that ran when the picture was taken, or the last one before it. */
export const stepOf = (steps: readonly RunStep[], picture: FilmPicture): RunStep | undefined =>
  steps.findLast(({ timestamp }) => timestamp <= picture.taken_at) ?? steps[0];

/** What the phone showed when the step ended. */
export const placeOfStep = (pictures: readonly FilmPicture[], step: RunStep): number =>
  placeAt(pictures, step.timestamp + step.duration_ms);

/** How long a picture stands while the film plays. */
export function standsMs(pictures: readonly FilmPicture[], place: number): number {
  const [picture, next] = [pictures[place], pictures[place + 1]];
  if (picture === undefined || next === undefined) return leastMs;
  return Math.min(mostMs, Math.max(leastMs, next.taken_at - picture.taken_at));
}

/** Such as `12.4 s`, since the beginning of the film. */
export const timeText = (pictures: readonly FilmPicture[], place: number): string =>
  `${(((pictures[place]?.taken_at ?? 0) - (pictures[0]?.taken_at ?? 0)) / 1000).toFixed(1)} s`;
